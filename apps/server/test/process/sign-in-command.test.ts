import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand } from "../support/gantry-command.ts";

let gantry: GantryNode;
let annsKey: string;
beforeAll(async () => {
  gantry = await startGantry();
  annsKey = await gantry.newUser("ann");
});
afterAll(() => gantry.close());

const signIn = (args: string[], key = gantry.adminKey) =>
  gantryCommand(["sign-in", ...args], { GANTRY_URL: gantry.url, GANTRY_KEY: key });

test.each([
  ["the user of the key", [], "admin"],
  ["another user, for an admin", ["ann"], "ann"],
])("prints a link that signs in %s, and nothing else", async (_whom, args, username) => {
  const { code, stdout, stderr } = await signIn(args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#[\w-]{43}\n$/);
  const json = { token: new URL(stdout.trim()).hash.slice(1) };
  const answer = await gantry.call("POST", "/console/api/session", { key: "", json });
  expect([answer.status, answer.body.username]).toEqual([200, username]);
});

test("reports in one line why it has no link", async () => {
  const refused = [await signIn(["unknown"]), await signIn(["admin"], annsKey), await signIn([], "wrong")];
  const wrong = [await signIn(["ann", "bob"]), await signIn(["--x"])];
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2]);
  for (const { stdout, stderr } of [...refused, ...wrong]) {
    expect([stdout, stderr.trim().split("\n").length]).toEqual(["", 1]);
  }
}, 40_000);

test("lists and ends sessions, and prints a link that sets a password", async () => {
  const run = (args: string[], key = annsKey) => gantryCommand(args, { GANTRY_URL: gantry.url, GANTRY_KEY: key });
  await gantry.call("POST", "/console/api/session", { key: "", json: { key: annsKey } });
  const listed = await run(["sessions", "list", "--json"]);
  expect(listed.stdout).toContain('"signed_in_with"');
  expect((await run(["sessions", "revoke", "--yes"])).stdout).toBe("Ended all sessions.\n");
  expect((await run(["sessions", "list"])).stdout).not.toMatch(/\bkey\b/);
  const link = await run(["users", "reset-password", "ann"], gantry.adminKey);
  expect(link.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/reset-password#[\w-]{43}\n$/);
  expect((await run(["users", "reset-password", "ann"])).code).toBe(1);
}, 40_000);
