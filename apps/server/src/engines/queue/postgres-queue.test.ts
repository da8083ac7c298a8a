import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { connect, type Database } from "../database/index.ts";
import { openPostgresQueue } from "./postgres-queue.ts";
import { queueContract } from "./queue.contract.ts";

queueContract("postgres", async () => {
  const { url, drop } = await testDatabase();
  const databases: Database[] = [];
  return {
    async open(options) {
      const database = connect({ url, poolSize: 2 });
      databases.push(database);
      return openPostgresQueue({ ...options, database });
    },
    childArguments: ["postgres", url],
    empty: async () => undefined,
    async close() {
      await Promise.all(databases.map((database) => database.close()));
      await drop();
    },
  };
});

test("after a gap in listening the worker is called", async () => {
  const { database, drop } = await testDatabase();
  const queue = openPostgresQueue({ database, onTrouble: () => undefined, lookAfterMs: 600_000 });
  try {
    let calls = 0;
    await queue.consume("runs", { parallel: 1 }, async () => {
      calls++;
    });
    await waitFor("the first call", () => calls === 1);
    const cut = await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`;
    expect(cut).toHaveLength(1);
    await waitFor("the call after the gap", () => calls === 2);
    expect(await queue.wake("runs")).toBe(true);
    await waitFor("a call for a wake-up", () => calls === 3);
  } finally {
    await queue.close();
    await drop();
  }
});

test("while the database is down, wake resolves with false, and the problem is reported once", async () => {
  const { database, drop } = await testDatabase();
  const troubles: string[] = [];
  const queue = openPostgresQueue({ database, onTrouble: (text) => troubles.push(text) });
  await drop(); // closes the connection too
  expect(await Promise.all([queue.wake("runs"), queue.wake("runs"), queue.wake("runs")])).toEqual([
    false,
    false,
    false,
  ]);
  expect(await queue.ready()).toBe(false);
  expect(troubles).toHaveLength(1);
  await queue.close();
});
