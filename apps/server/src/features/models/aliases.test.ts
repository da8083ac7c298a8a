import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { textManifest, textModels } from "../../engines/models/builtin/text-manifests.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { type Caller, openAccounts } from "../accounts/index.ts";
import { type Models, openModels, seedModels } from "./index.ts";

const log = createLog("silent");
const builtins = ["image", "rules"];

let stored: Awaited<ReturnType<typeof testDatabase>>;
/** Two nodes on one database. */
let here: Models;
let there: Models;
let ann: Caller;
let bob: Caller;
let closeAccounts: () => Promise<void>;

beforeAll(async () => {
  stored = await testDatabase();
  const { database } = stored;
  const accounts = await openAccounts({ database, clock: systemClock, log });
  closeAccounts = () => accounts.close();
  await accounts.bootstrap("an-operator-key-of-more-than-32-characters");
  const user = async (username: string) => {
    await accounts.createUser({ username });
    const wanted = { name: "", models: null, expiresAt: null, monthlyLimitMicros: null };
    return accounts.authenticate((await accounts.createKeyFor(username, wanted)).key);
  };
  [ann, bob] = [await user("ann"), await user("bob")];
  await seedModels(database, textModels({}));
  const agentTargets = { mayRun: async () => true, exists: async () => true };
  here = await openModels({ database, log, builtins, agentTargets });
  there = await openModels({ database, log, builtins, agentTargets });
});

afterAll(async () => {
  await here.close();
  await there.close();
  await closeAccounts();
  await stored.drop();
});

beforeEach(async () => {
  await stored.database.sql`delete from model_aliases`;
});

const soon = (found: () => Promise<unknown>) => expect.poll(found, { interval: 10 });
/** What a node remembers never gets old: only the announcement can change it. */
function stopTime(): void {
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("resolving", () => {
  test("the user's own alias wins over that of all users, and other users do not have it", async () => {
    await here.putSharedAlias("a1", { model: "gantry/text" });
    await here.putAlias(ann, "a1", { model: "gantry/rules" });
    await here.putAlias(ann, "a2", { model: "agents/bob/helper" });
    expect(await here.resolveAlias(ann, "a1")).toBe("gantry/rules");
    expect(await here.resolveAlias(bob, "a1")).toBe("gantry/text");
    expect(await here.resolveAlias(ann, "a2")).toBe("agents/bob/helper");
    expect(await here.resolveAlias(bob, "a2")).toBeUndefined();
    await here.deleteAlias(ann, "a1");
    expect(await here.resolveAlias(ann, "a1")).toBe("gantry/text");
  });

  test("text that cannot be an alias never reaches the database", async () => {
    const sql = vi.fn(async () => []);
    const node = await openModels({ database: Object.create(stored.database, { sql: { value: sql } }), log, builtins });
    onTestFinished(async () => void (await node.close()));
    for (const name of ["gantry/text", "agents/a/b", "", " ", "a b", "a\0", "x".repeat(64)]) {
      expect(await node.resolveAlias(ann, name)).toBeUndefined();
      expect(await node.targetOf(ann, name)).toBe(name);
    }
    expect(sql).not.toHaveBeenCalled();
    await node.resolveAlias(ann, "x");
    expect(sql).toHaveBeenCalledOnce();
  });

  test("repeated requests do not query", async () => {
    await here.putAlias(ann, "b1", { model: "gantry/text" });
    // The announcement of this node's own change comes back to it.
    await new Promise((resolve) => setTimeout(resolve, 200));
    stopTime();
    expect(await here.resolveAlias(ann, "b1")).toBe("gantry/text");
    await stored.database.sql`update model_aliases set model = 'gantry/other' where name = 'b1'`;
    for (let n = 0; n < 100; n++) expect(await here.resolveAlias(ann, "b1")).toBe("gantry/text");
  });
});

describe("two nodes", () => {
  test("see changes at once on the changed node and after an announcement on the other", async () => {
    stopTime();
    await here.putAlias(ann, "c1", { model: "gantry/text" });
    expect(await there.resolveAlias(ann, "c1")).toBe("gantry/text");
    await here.putAlias(ann, "c1", { model: "gantry/rules" });
    expect(await here.resolveAlias(ann, "c1")).toBe("gantry/rules");
    await soon(() => there.resolveAlias(ann, "c1")).toBe("gantry/rules");
    await there.deleteAlias(ann, "c1");
    expect(await there.resolveAlias(ann, "c1")).toBeUndefined();
    await soon(() => here.resolveAlias(ann, "c1")).toBeUndefined();
  });

  test("see a change for all users in every user's cache", async () => {
    stopTime();
    await here.putSharedAlias("d1", { model: "gantry/text" });
    await here.putAlias(ann, "d1", { model: "gantry/rules" });
    for (const node of [here, there]) {
      await soon(() => node.resolveAlias(ann, "d1")).toBe("gantry/rules");
      expect(await node.resolveAlias(bob, "d1")).toBe("gantry/text");
    }
    await there.putSharedAlias("d1", { model: "gantry/rules" });
    expect(await there.resolveAlias(bob, "d1")).toBe("gantry/rules");
    await soon(() => here.resolveAlias(bob, "d1")).toBe("gantry/rules");
    await here.deleteSharedAlias("d1");
    await soon(() => there.resolveAlias(bob, "d1")).toBeUndefined();
    expect(await there.resolveAlias(ann, "d1")).toBe("gantry/rules");
  });

  test("repair a lost announcement by expiry", async () => {
    await here.putAlias(ann, "e1", { model: "gantry/text" });
    await there.resolveAlias(ann, "e1");
    await stored.database.sql`update model_aliases set model = 'gantry/rules' where name = 'e1'`;
    await soon(() => there.resolveAlias(ann, "e1")).toBe("gantry/rules");
  });
});

test("the list has what the caller may call now; agents are left to the reader", async () => {
  const backend = { type: "cog", url: "http://cog.example" };
  await here.putModel(bob, "bob", "hidden", { ...textManifest, visibility: "private", backend });
  await here.putSharedAlias("f1", { model: "bob/hidden" });
  await here.putSharedAlias("f2", { model: "gantry/text" });
  await here.putAlias(ann, "f2", { model: "gantry/rules" });
  await here.putAlias(ann, "f3", { model: "agents/bob/helper" });
  const agent = { name: "f3", model: "agents/bob/helper" };
  expect(await here.listAliases(ann)).toEqual([{ name: "f2", model: "gantry/rules" }, agent]);
  expect(await here.listAliases(bob)).toEqual([
    { name: "f1", model: "bob/hidden" },
    { name: "f2", model: "gantry/text" },
  ]);
  expect(await here.listAliases({ ...ann, models: ["gantry/text"] })).toEqual([agent]);
  await here.deleteModel(bob, "bob", "hidden");
  expect(await here.listAliases(bob)).toEqual([{ name: "f2", model: "gantry/text" }]);
  // The alias stays, so the name leads to nothing.
  expect(await here.resolveAlias(bob, "f1")).toBe("bob/hidden");
});
