import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect, type Database, type Sql } from "./index.ts";

const role = `few_${randomBytes(4).toString("hex")}`;
let own: Awaited<ReturnType<typeof testDatabase>>;
let url: string;

beforeAll(async () => {
  own = await testDatabase();
  await own.database.sql.unsafe(`create role ${role} login password 'few' connection limit 6`);
  const address = Object.assign(new URL(own.url), { username: role, password: "few" });
  url = address.toString();
});

afterAll(async () => {
  await own.database.sql.unsafe(`drop role ${role}`);
  await own.drop();
});

const disconnectAll = () =>
  own.database.sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;

/** Ten clients that query without a pause. */
function load(database: Database): { stop(): Promise<unknown> } {
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) await database.sql`select pg_sleep(0.005)`.catch(() => sleep(5));
  };
  const clients = Array.from({ length: 10 }, client);
  return {
    stop: () => {
      isOver = true;
      return Promise.all(clients);
    },
  };
}

test("a pool with every available connection closes one for the listener", async () => {
  const reported: string[] = [];
  const database = connect({ url, poolSize: 16, onTrouble: (text) => reported.push(text) });
  const heard: string[] = [];
  await database.listen("news", (payload) => heard.push(payload));
  const busy = load(database);
  await sleep(200);
  for (let round = 1; round <= 3; round++) {
    await disconnectAll();
    // Notifications sent before the listener reconnects are lost.
    await expect
      .poll(
        async () => {
          await own.database.sql.notify("news", `${round}`);
          return heard;
        },
        { interval: 200 },
      )
      .toContain(`${round}`);
  }
  await busy.stop();
  expect(reported).toEqual([
    expect.stringMatching(/^The database refuses more connections\. .+: too many connections for/),
  ]);
  await database.close();
}, 60_000);

test("all but a few idle connections are closed, and opened again for new work", async () => {
  const database = connect({ url: own.url, poolSize: 12, idleMs: 1_000 });
  /** Twelve transactions that are open at once. */
  const work = async () => {
    const all = Promise.withResolvers<void>();
    let open = 0;
    const hold = (tx: Sql) => tx`select 1`.then(() => (++open === 12 ? all.resolve() : all.promise));
    await Promise.all(Array.from({ length: 12 }, () => database.transaction(hold)));
  };
  await work();
  expect(database.figures().idle).toBe(12);
  await expect.poll(() => database.figures()).toEqual({ idle: 4, busy: 0, waiting: 0 });
  await work();
  expect(database.figures().idle).toBe(12);
  await database.close();
});

test("a lost listener is reported once, and its return too", async () => {
  const reported: string[] = [];
  const database = connect({ url, poolSize: 2, onTrouble: (text) => reported.push(text) });
  await database.listen("news", () => undefined);
  await own.database.sql.unsafe(`alter role ${role} nologin`);
  await disconnectAll();
  const late = expect.stringMatching(
    /^Queued work starts late: .+ do not arrive\. role "few_.+" is not permitted to log/,
  );
  await expect.poll(() => reported).toEqual([late]);
  await sleep(1000);
  await own.database.sql.unsafe(`alter role ${role} login`);
  const again = "Database notifications arrive again";
  await expect.poll(() => reported).toEqual([late, again]);
  await database.close();
}, 60_000);
