import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { asPresentedSession, foreignKeyPair, newKeyPair } from "./key-format.rules.ts";
import { type Accounts, openAccounts } from "./open-accounts.ts";

let logged = "";
const log = createLog("warn", {
  write: (line: string) => {
    logged += line;
  },
});
const firstKey = "the-first-key-of-the-operator-000000000001";
const secondKey = "the-second-key-of-the-operator-00000000002";
let db: Awaited<ReturnType<typeof testDatabase>>;
const opened: Accounts[] = [];

/** One more node on the same database. */
async function node(): Promise<Accounts> {
  const accounts = await openAccounts({ database: db.database, clock: systemClock, log });
  opened.push(accounts);
  return accounts;
}

beforeEach(async () => {
  db = await testDatabase();
  logged = "";
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((accounts) => accounts.close()));
  await db.drop();
});

const users = () => db.database.sql`select username, role, plan from users order by username`;
const keyCount = async () => (await db.database.sql`select id from api_keys`).length;

describe("the first start", () => {
  it("makes the admin, the owners of the built-in models and a random key, shown once", async () => {
    const accounts = await node();
    const { newAdminKey, newSignInToken } = await accounts.bootstrap(undefined);
    expect(newAdminKey).toMatch(/^gk_/);
    const session = await accounts.useSignInLink(newSignInToken ?? "");
    expect(await accounts.authenticate(asPresentedSession(session))).toMatchObject({
      username: "admin",
      sessionEndsAt: expect.any(Date),
      expiresAt: null,
    });
    expect(await accounts.authenticate(newAdminKey ?? "")).toMatchObject({ username: "admin", role: "admin" });
    expect([...(await users())]).toEqual([
      { username: "admin", role: "admin", plan: "unlimited" },
      { username: "anthropic", role: "system", plan: "unlimited" },
      { username: "gantry", role: "system", plan: "unlimited" },
    ]);
    expect(await accounts.bootstrap(undefined)).toMatchObject({ newAdminKey: null, newSignInToken: null });
    expect(await keyCount()).toBe(2);
  });

  it("of three nodes at once makes one of each, and one node prints the key", async () => {
    const nodes = await Promise.all([node(), node(), node()]);
    const made = await Promise.all(nodes.map((accounts) => accounts.bootstrap(undefined)));
    const printed = made.map((one) => one.newAdminKey).filter((key) => key !== null);
    expect(printed).toHaveLength(1);
    expect(await keyCount()).toBe(1);
    expect(await users()).toHaveLength(3);
    for (const accounts of nodes) await expect(accounts.authenticate(printed[0] ?? "")).resolves.toBeDefined();
  });

  it("of three nodes with the operator's key prints none, and one sign-in link", async () => {
    const nodes = await Promise.all([node(), node(), node()]);
    const made = await Promise.all(nodes.map((accounts) => accounts.bootstrap(firstKey)));
    expect(made.map((one) => one.newAdminKey)).toEqual([null, null, null]);
    expect(made.filter((one) => one.newSignInToken !== null)).toHaveLength(1);
    expect(await keyCount()).toBe(1);
    const caller = await nodes[0]?.authenticate(firstKey);
    expect(caller).toMatchObject({ username: "admin", keyPublic: foreignKeyPair(firstKey).public });
  });

  it("takes a key in our own form from the operator", async () => {
    const accounts = await node();
    const { key } = newKeyPair();
    await accounts.bootstrap(key);
    expect((await accounts.authenticate(key)).keyPublic).toBe(foreignKeyPair(key).public);
  });

  it.each(["x".repeat(31), `with spaces ${"x".repeat(32)}`, `ünïcode-${"x".repeat(32)}`, "x".repeat(513)])(
    "refuses the operator's key %s",
    async (key) => {
      await expect((await node()).bootstrap(key)).rejects.toThrow("GANTRY_ADMIN_KEY");
    },
  );
});

describe("a later start", () => {
  it("with another operator's key replaces the admin's key, on running nodes too", async () => {
    const running = await node();
    await running.bootstrap(firstKey);
    const before = await running.authenticate(firstKey);
    await (await node()).bootstrap(secondKey);
    await expect
      .poll(() => running.authenticate(secondKey).catch(() => null))
      .toMatchObject({
        keyId: before.keyId,
      });
    await expect(running.authenticate(firstKey)).rejects.toMatchObject({ type: "unauthorized" });
    expect(await keyCount()).toBe(1);
  });

  it("with a first operator's key replaces the random one", async () => {
    const accounts = await node();
    const { newAdminKey } = await accounts.bootstrap(undefined);
    await accounts.bootstrap(firstKey);
    await expect(accounts.authenticate(newAdminKey ?? "")).rejects.toMatchObject({ type: "unauthorized" });
    await expect(accounts.authenticate(firstKey)).resolves.toBeDefined();
  });

  it("with the same operator's key does not bring back what was rotated or revoked", async () => {
    const accounts = await node();
    await accounts.bootstrap(firstKey);
    const caller = await accounts.authenticate(firstKey);
    const rotated = await accounts.rotateKey(caller, caller.keyId, 0);
    await accounts.bootstrap(firstKey);
    await expect(accounts.authenticate(firstKey)).rejects.toMatchObject({ type: "unauthorized" });
    await expect(accounts.authenticate(rotated.key)).resolves.toBeDefined();
    await accounts.revokeKey(caller, caller.keyId);
    await accounts.bootstrap(firstKey);
    await expect(accounts.authenticate(rotated.key)).rejects.toMatchObject({ type: "unauthorized" });
  });

  it("says that the operator's key is not in force, and says nothing while it is", async () => {
    const accounts = await node();
    await accounts.bootstrap(firstKey);
    await accounts.bootstrap(firstKey);
    const caller = await accounts.authenticate(firstKey);
    expect(logged).toBe("");
    await accounts.rotateKey(caller, caller.keyId, 0);
    await accounts.bootstrap(undefined);
    expect(logged).toBe("");
    await accounts.bootstrap(firstKey);
    expect(logged).toMatch(/GANTRY_ADMIN_KEY does not work/);
    expect(logged).not.toContain(firstKey);
    logged = "";
    await accounts.bootstrap(secondKey);
    expect(logged).toBe("");
    await accounts.revokeKey(caller, caller.keyId);
    await accounts.bootstrap(secondKey);
    expect(logged).toMatch(/GANTRY_ADMIN_KEY does not work/);
  });

  it("with another key is the way back in for an admin who was disabled", async () => {
    const accounts = await node();
    await accounts.bootstrap(firstKey);
    const caller = await accounts.authenticate(firstKey);
    await accounts.createUser({ username: "deputy", role: "admin" });
    await accounts.changeUser("admin", { disabled: true, role: "user" });
    await accounts.revokeKey(caller, caller.keyId);
    await accounts.bootstrap(secondKey);
    expect(await accounts.authenticate(secondKey)).toMatchObject({ role: "admin", keyId: caller.keyId });
    const records = await db.database.sql`
      select action, entry -> 'before' as before, entry -> 'after' as after from audit_records
      where entry -> 'actor' ->> 'type' = 'operator' order by seq desc limit 2`;
    expect(records).toEqual([
      expect.objectContaining({ action: "key.rotate" }),
      {
        action: "user.update",
        before: { role: "user", disabled: true },
        after: { role: "admin", disabled: false },
      },
    ]);
  });
});
