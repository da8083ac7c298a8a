import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand } from "../support/gantry-command.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const run = (...args: string[]) => gantryCommand(args, { DATABASE_URL: gantry.databaseUrl, GANTRY_HOME: gantry.home });

test("gantry audit verify checks a database beside its server", async () => {
  const intact = await run("audit", "verify", "--json");
  expect([intact.code, intact.stderr]).toEqual([0, ""]);
  const { head, records } = JSON.parse(intact.stdout);
  expect(records).toBeGreaterThan(1);
  const noted = await run("audit", "verify", "--head", head);
  expect(noted).toEqual({
    code: 0,
    stderr: "",
    stdout: `The audit log is intact: ${records} records\nHead: ${head}\n`,
  });
  const unknown = await run("audit", "verify", "--head", "0".repeat(64));
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("The given hash is not in the chain")]);
  expect((await run("audit", "verify", "--head", "abc")).code).toBe(2);
  await gantry.database.sql`alter table audit_records disable trigger user`;
  await gantry.database.sql`update audit_records set entry = '{"action": "key.create"}' where seq = 2`;
  const broken = await run("audit", "verify");
  expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("Record 2: The record was changed")]);
});

test("gantry audit list shows who did what", async () => {
  const asAdmin = (...args: string[]) => run(...args, "--url", gantry.url, "--key", gantry.adminKey);
  await gantry.call("PUT", "/api/v2/secrets/crm", { json: { value: "x" } });
  const listed = await asAdmin("audit", "list", "--action", "secret");
  expect(listed.code, listed.stderr).toBe(0);
  expect(listed.stdout).toMatch(/admin +127\.0\.0\.1 +secret\.put +crm +admin/);

  const key = await gantry.newUser("ann");
  const asAnn = (...args: string[]) => run("audit", "list", ...args, "--url", gantry.url, "--key", key);
  await gantry.call("PUT", "/api/v2/secrets/ours", { json: { value: "x" }, key });
  const own = await asAnn("--own");
  expect([own.code, own.stdout]).toEqual([0, expect.stringMatching(/ann +127\.0\.0\.1 +secret\.put +ours +ann/)]);
  expect(own.stdout).not.toMatch(/\bcrm\b/);
  expect((await asAnn()).code).toBe(1);
  expect((await asAnn("--own", "--owner", "admin")).code).toBe(2);
});
