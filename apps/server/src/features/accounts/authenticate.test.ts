import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { createAuthentication } from "./authenticate.ts";
import type { Caller } from "./context.ts";
import { newKeyPair } from "./key-format.rules.ts";
import { type Accounts, openAccounts } from "./open-accounts.ts";
import { type StoredPair, selectPairs } from "./pair-store.ts";

const log = createLog("silent");
const adminKey = "the-key-of-the-operator-0000000000000000001";
const open = { name: "", models: null, expiresAt: null, monthlyLimitMicros: null };
const refused = { type: "unauthorized", message: "Invalid API key" };
let db: Awaited<ReturnType<typeof testDatabase>>;
let node: Accounts;
let admin: Caller;

beforeAll(async () => {
  db = await testDatabase();
  node = await openAccounts({ database: db.database, clock: systemClock, log });
  await node.bootstrap(adminKey);
  admin = await node.authenticate(adminKey);
});
afterAll(async () => {
  await node.close();
  await db.drop();
});

/** The real lookup, counted, and held back where a test says so. */
function counted(hold: () => Promise<void> = async () => {}) {
  let queries = 0;
  const uses: StoredPair[] = [];
  const authentication = createAuthentication({
    findPairs: async (publicParts) => {
      queries += 1;
      const pairs = await selectPairs(db.database.sql, publicParts);
      await hold();
      return pairs;
    },
    noteUse: (pair) => uses.push(pair),
    clock: systemClock,
    log,
  });
  return { ...authentication, queries: () => queries, uses };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("the memory", () => {
  it("answers many requests with one query, and requests at the same moment share it", async () => {
    const one = counted();
    const callers = await Promise.all(Array.from({ length: 200 }, () => one.authenticate(adminKey)));
    for (let i = 0; i < 200; i++) await one.authenticate(adminKey);
    expect(one.queries()).toBe(1);
    expect(new Set(callers).size).toBe(1);
    expect(one.uses).toHaveLength(1);
  });

  it("renews what is in use in the background and asks again after a second", async () => {
    const one = counted();
    await one.authenticate(adminKey);
    await pause(600);
    await one.authenticate(adminKey);
    await expect.poll(one.queries).toBe(2);
    await pause(1100);
    await one.authenticate(adminKey);
    expect(one.queries()).toBe(3);
  });

  it("asks once for a wrong key that is presented over and over", async () => {
    const one = counted();
    const { key } = newKeyPair();
    for (let i = 0; i < 50; i++) await expect(one.authenticate(key)).rejects.toMatchObject(refused);
    expect(one.queries()).toBe(1);
    expect(one.uses).toHaveLength(0);
  });

  it("does not grow with a flood of invented keys, nor lose the real ones", async () => {
    const before = await node.authenticate(adminKey);
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.allSettled(Array.from({ length: 500 }, () => node.authenticate(newKeyPair().key)));
      expect(answers.every((answer) => answer.status === "rejected")).toBe(true);
    }
    expect(node.remembered()).toBeLessThanOrEqual(1_100);
    expect(await node.authenticate(adminKey)).toMatchObject({ keyId: before.keyId });
  });

  it("does not ask at all for what cannot be a key", async () => {
    const one = counted();
    for (const text of ["", "x", "gk_abc", "x".repeat(600)]) {
      await expect(one.authenticate(text)).rejects.toMatchObject(refused);
    }
    expect(one.queries()).toBe(0);
    expect(one.remembered()).toBe(0);
  });
});

describe("a change", () => {
  it("is not undone by a lookup that was under way", async () => {
    const made = await node.createKey(admin, open);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const one = counted(() => held);
    const early = one.authenticate(made.key);
    await expect.poll(one.queries).toBe(1);
    await pause(50);
    await node.revokeKey(admin, made.record.id);
    one.forgetUser(admin.userId);
    const late = one.authenticate(made.key);
    late.catch(() => {});
    release();
    await expect(early).resolves.toBeDefined();
    await expect(late).rejects.toMatchObject(refused);
    await expect(one.authenticate(made.key)).rejects.toMatchObject(refused);
  });

  it("reaches another node by announcement", async () => {
    // What a node remembers never gets old: only the announcement can change it.
    vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => void vi.restoreAllMocks());
    const other = await openAccounts({ database: db.database, clock: systemClock, log });
    const made = await node.createKey(admin, open);
    await other.authenticate(made.key);
    await node.revokeKey(admin, made.record.id);
    await expect
      .poll(
        () =>
          other.authenticate(made.key).then(
            () => 200,
            () => 401,
          ),
        { interval: 10 },
      )
      .toBe(401);
    await other.close();
  });

  it("reaches a node that hears no announcement within about a second", async () => {
    const deaf: Database = {
      sql: db.database.sql,
      transaction: (work, options) => db.database.transaction(work, options),
      session: (work, options) => db.database.session(work, options),
      listen: async () => ({ stop: async () => {} }),
      ready: () => db.database.ready(),
      isFull: () => db.database.isFull(),
      figures: () => db.database.figures(),
      close: async () => {},
    };
    const other = await openAccounts({ database: deaf, clock: systemClock, log });
    const made = await node.createKey(admin, open);
    // What the node remembers does not get old while the key is revoked.
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => now.mockRestore());
    await other.authenticate(made.key);
    await node.revokeKey(admin, made.record.id);
    expect(await other.authenticate(made.key)).toBeDefined();
    now.mockRestore();
    // In use all the time, so that it is the renewal that finds out.
    await expect
      .poll(
        () =>
          other.authenticate(made.key).then(
            () => 200,
            () => 401,
          ),
        { interval: 20 },
      )
      .toBe(401);
    await other.close();
  });
});

describe("a database that is away", () => {
  it("is 503 and not 401", async () => {
    const own = await testDatabase();
    const other = await openAccounts({ database: own.database, clock: systemClock, log });
    await other.bootstrap(adminKey);
    await own.drop();
    await expect(other.authenticate(adminKey)).rejects.toMatchObject({ type: "service_unavailable" });
  });
});

describe("the last use of a key", () => {
  it("is written soon after, and then not again within a minute", async () => {
    const made = await node.createKey(admin, open);
    const lastUse = async () => (await node.listKeys(admin, { limit: 1, offset: 0 })).entries[0]?.lastUsedAt;
    expect(await lastUse()).toBeNull();
    await node.authenticate(made.key);
    await expect.poll(lastUse).toBeInstanceOf(Date);
    const first = await lastUse();
    await pause(1100);
    await node.authenticate(made.key);
    await pause(1300);
    expect(await lastUse()).toEqual(first);
  });

  it("is written when the node stops, too", async () => {
    const other = await openAccounts({ database: db.database, clock: systemClock, log });
    const made = await node.createKey(admin, open);
    await other.authenticate(made.key);
    await other.close();
    expect((await node.listKeys(admin, { limit: 1, offset: 0 })).entries[0]?.lastUsedAt).toBeInstanceOf(Date);
  });
});
