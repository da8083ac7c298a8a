import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConnectOptions } from "./connect.ts";
import type { Database, Sql } from "./database.ts";

type Opener = (options: Pick<ConnectOptions, "poolSize" | "deadlineMs">) => Promise<Database>;

const unavailable = { name: "Fault", type: "service_unavailable", retryable: true };

async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work.catch(() => undefined);
  return performance.now() - start;
}

async function answersAgain({ sql }: Database): Promise<void> {
  await expect.poll(() => sql`select 1 as one`.catch(() => [])).toEqual([{ one: 1 }]);
}

/** Runs `work` while the backend of the pool's only connection is stopped (SIGSTOP). */
async function whileStalled<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const [row] = await database.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  if (!row) throw new Error("no backend");
  process.kill(row.pid, "SIGSTOP");
  try {
    return await work();
  } finally {
    process.kill(row.pid, "SIGCONT");
  }
}

/** `open` connects to a database that only this suite uses. */
export function databaseContract(name: string, open: Opener): void {
  describe(`${name} database`, () => {
    let database: Database;
    const opened: Database[] = [];
    const another: Opener = async (options) => {
      const extra = await open(options);
      opened.push(extra);
      return extra;
    };

    beforeEach(async () => {
      database = await another({});
      await database.sql`drop table if exists item`;
      await database.sql`create table item (id int8 primary key, label text)`;
    });

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
    });

    const labels = async (): Promise<unknown[]> =>
      (await database.sql`select label from item order by id`).map(({ label }) => label);

    describe("queries", () => {
      test("values come back as the types we use", async () => {
        const [row] = await database.sql`
          select 9007199254740991::int8 as big, 1.50::numeric as amount, '2024-05-06T07:08:09.123Z'::timestamptz as at,
                 '{"a": [1]}'::jsonb as doc, '\\xff00'::bytea as bytes, ${[1, 2]}::int8[] as ids, ${["x", 'y,"z']}::text[] as texts`;
        expect(row).toEqual({
          big: Number.MAX_SAFE_INTEGER,
          amount: "1.50",
          at: new Date("2024-05-06T07:08:09.123Z"),
          doc: { a: [1] },
          bytes: Buffer.from([0xff, 0]),
          ids: [1, 2],
          texts: ["x", 'y,"z'],
        });
      });

      test("arrays of every type we use round-trip", async () => {
        const { sql } = database;
        const at = new Date("2024-05-06T07:08:09.123Z");
        const [row] = await sql`
          select ${[true, false, null]}::bool[] as flags, ${[at, null]}::timestamptz[] as times,
                 ${[null, 5]}::int8[] as sums, ${["1.50"]}::numeric[] as amounts, ${[]}::text[] as none,
                 ${[Buffer.from([1, 255])]}::bytea[] as hashes, ${["a,b", 'c"d', "e\\f", "NULL", "", null]}::text[] as words,
                 array[1.5, 'NaN']::float8[] as floats, array[[1, 2], [3, 4]] as grid`;
        expect(row).toEqual({
          flags: [true, false, null],
          times: [at, null],
          sums: [null, 5],
          amounts: ["1.50"],
          none: [],
          hashes: [Buffer.from([1, 255])],
          words: ["a,b", 'c"d', "e\\f", "NULL", "", null],
          floats: [1.5, Number.NaN],
          grid: [
            [1, 2],
            [3, 4],
          ],
        });
        const docs = [{ a: 'x"y' }, [1, [2]], null];
        expect(await sql`select ${docs.map(sql.json)} as docs`).toEqual([{ docs }]);
        const composites = [`(1,"a ""b""")`, "(2,)"];
        expect(await sql`select id, label from unnest(${composites}::item[])`).toEqual([
          { id: 1, label: 'a "b"' },
          { id: 2, label: null },
        ]);
      });

      test("an integer beyond 2^53 is an error and leaves the connection usable", async () => {
        const { sql } = await another({ poolSize: 1 });
        const tooBig = sql`select 9007199254740993::int8 as big from generate_series(1, 100)`;
        const after = [1, 2, 3].map((n) => sql`select ${n}::int as n`);
        await expect(tooBig).rejects.toThrow(RangeError);
        expect((await Promise.all(after)).map(([row]) => row?.n)).toEqual([1, 2, 3]);
      });

      test("fragments, helpers and modifiers work", async () => {
        const { sql } = database;
        const rows = [
          { id: 1, label: "a" },
          { id: 2, label: "b" },
          { id: 3, label: null },
        ];
        const inserted = await sql`
          insert into item (${sql("id", "label")})
          select * from unnest(${rows.map(({ id }) => id)}::int8[], ${rows.map(({ label }) => label)}::text[])`;
        expect(inserted.count).toBe(3);
        const [onlyNamed, among] = [sql`label is not null`, sql`id = any(${[2, 3]}::int8[])`];
        expect(await sql`select id from ${sql("item")} where ${sql`${onlyNamed} and ${among}`}`).toEqual([{ id: 2 }]);
        expect(await sql`select id from item where ${sql.unsafe("label is null")}`.execute()).toEqual([{ id: 3 }]);
        expect(await sql`select ${sql.json({ deep: [1, null] })}::jsonb as doc`).toEqual([
          { doc: { deep: [1, null] } },
        ]);
        expect(await sql.unsafe("select 4; select 5 as n")).toEqual([{ n: 5 }]);
      });

      test("a bug in the SQL is not translated", async () => {
        await expect(database.sql`select nothing_such`).rejects.toMatchObject({ name: "PostgresError", code: "42703" });
      });

      test("a value that cannot be sent fails only its own query", async () => {
        const { sql } = await another({ poolSize: 2 });
        const work = Array.from({ length: 60 }, async (_, n) => {
          const value = n % 3 === 0 ? (undefined as unknown as number) : n;
          const [row] = await sql`select ${value}::int as n`;
          return row?.n;
        });
        const results = await Promise.allSettled(work);
        for (const [n, result] of results.entries()) {
          if (n % 3 === 0) expect(result).toMatchObject({ reason: { name: "TypeError" } });
          else expect(result).toEqual({ status: "fulfilled", value: n });
        }
      });

      test("many more queries than connections each get their own answer", async () => {
        const { sql } = await another({ poolSize: 3 });
        const answers = await Promise.all(Array.from({ length: 2000 }, (_, n) => sql`select ${n}::int as n`));
        expect(answers.every(([row], n) => row?.n === n)).toBe(true);
      });

      test("typed values keep their type everywhere", async () => {
        const at = new Date("2024-05-06T07:08:09.123Z");
        const [row] =
          await database.sql`select ${at} - interval '1 day' as before, ${true} as flag, ${Buffer.from([7])} as bytes`;
        expect(row).toEqual({ before: new Date("2024-05-05T07:08:09.123Z"), flag: true, bytes: Buffer.from([7]) });
      });

      test("the stack of an error shows where its query is written", async () => {
        const error = await database.sql`select nothing_such`.catch((caught: Error) => caught);
        expect(error).toMatchObject({ stack: expect.stringContaining("database.contract.ts") });
      });

      test("a prepared query sees a later change of its table", async () => {
        const { sql } = await another({ poolSize: 1 });
        const all = () => sql`select * from item order by id`;
        await sql`insert into item values (1, 'a')`;
        expect(await all()).toEqual([{ id: 1, label: "a" }]);
        await database.sql`alter table item add column size int default 5`;
        expect(await all()).toEqual([{ id: 1, label: "a", size: 5 }]);
        expect(await all()).toEqual([{ id: 1, label: "a", size: 5 }]);
      });
    });

    describe("sessions", () => {
      test("allow statements that transactions refuse, and leave no settings or locks", async () => {
        const small = await another({ poolSize: 1 });
        const done = await small.session(async (sql) => {
          await sql`create index concurrently item_label on item (label)`;
          await sql`set lock_timeout = 4711`;
          const [taken] = await sql`select pg_try_advisory_lock(4711) as it`;
          return taken?.it;
        });
        expect(done).toBe(true);
        const [after] = await small.sql`
          select current_setting('lock_timeout') as lock_timeout, pg_try_advisory_lock(4711) as free`;
        expect(after).toEqual({ lock_timeout: "0", free: true });
      });

      test("have their own deadline, and a failure does not harm the pool", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        expect(await timed(hasty.session((sql) => sql`select pg_sleep(0.9)`, { deadlineMs: 5000 }))).toBeGreaterThan(
          850,
        );
        await expect(hasty.session((sql) => sql`select pg_sleep(9)`)).rejects.toMatchObject(unavailable);
        await expect(hasty.session((sql) => sql`select nonsense`)).rejects.toMatchObject({ code: "42703" });
        await answersAgain(hasty);
      });
    });

    describe("transactions", () => {
      test("commit when the work resolves, and return its result", async () => {
        const result = await database.transaction(async (tx) => {
          await tx`insert into item values (1, 'kept')`;
          return 42;
        });
        expect(result).toBe(42);
        expect(await labels()).toEqual(["kept"]);
      });

      test("roll back when the work rejects, and pass the error on", async () => {
        const failing = database.transaction(async (tx) => {
          await tx`insert into item values (1, 'gone')`;
          throw new Error("changed my mind");
        });
        await expect(failing).rejects.toThrow("changed my mind");
        expect(await labels()).toEqual([]);
      });

      test("an ignored failed statement still fails the transaction", async () => {
        const failing = database.transaction(async (tx) => {
          await tx`insert into item values (1, 'gone')`;
          await tx`select 1 / 0`.catch(() => undefined);
        });
        await expect(failing).rejects.toMatchObject({ code: "22012" });
        expect(await labels()).toEqual([]);
      });

      test("a savepoint fails alone", async () => {
        await database.transaction(async (tx) => {
          await tx`insert into item values (1, 'kept')`;
          await tx.savepoint((inner) => inner`insert into item values (1, 'twice')`).catch(() => undefined);
          await tx.savepoint((inner) => inner`insert into item values (2, 'kept too')`);
        });
        expect(await labels()).toEqual(["kept", "kept too"]);
      });

      test("are isolated from each other and from the pool, even if they outnumber connections", async () => {
        const small = await another({ poolSize: 2 });
        const one = async (n: number): Promise<void> => {
          const work = small.transaction(async (tx) => {
            await Promise.all([tx`insert into item values (${n}, 'x')`, tx`select pg_sleep(0.001)`]);
            const count = async (sql: Sql): Promise<unknown> =>
              (await sql`select count(*) from item where id = ${n}`)[0]?.count;
            expect([await count(tx), await count(database.sql)]).toEqual([1, 0]);
            if (n % 2) throw new Error("odd");
          });
          await work.catch((error: Error) => expect(error.message).toBe("odd"));
        };
        await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)));
        expect((await labels()).length).toBe(10);
      });

      test("cannot be used after their end", async () => {
        const leaked = await database.transaction(async (tx) => {
          await tx`select 1`;
          return { tx };
        });
        await expect(leaked.tx`select 1`).rejects.toThrow("over");
      });

      test("can have a longer deadline than usual", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        const slow = (deadlineMs?: number): Promise<unknown> =>
          hasty.transaction((tx) => tx`select pg_sleep(0.9)`, deadlineMs === undefined ? {} : { deadlineMs });
        await expect(slow(5000)).resolves.toBeDefined();
        await expect(slow()).rejects.toMatchObject(unavailable);
      });
    });

    describe("deadlines", () => {
      test("a slow query is refused in time and cancelled, and its connection stays usable", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        const [before] = await hasty.sql`select pg_backend_pid() as pid`;
        const slow = hasty.sql`select pg_sleep(40)`;
        expect(await timed(slow)).toBeLessThan(15_000);
        await expect(slow).rejects.toMatchObject(unavailable);
        const [after] = await hasty.sql`select pg_backend_pid() as pid`;
        expect(after?.pid).toBe(before?.pid);
        const running = await database.sql`
          select from pg_stat_activity where state = 'active' and query like '%pg_sleep(40)%' and pid = ${before?.pid}`;
        expect(running.length).toBe(0);
      });

      test("a slow statement rolls back its transaction", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        const slow = hasty.transaction(async (tx) => {
          await tx`insert into item values (1, 'gone')`;
          await tx`select pg_sleep(40)`;
        });
        expect(await timed(slow)).toBeLessThan(15_000);
        await expect(slow).rejects.toMatchObject(unavailable);
        expect(await hasty.sql`select count(*) from item`).toEqual([{ count: 0 }]);
      });

      test("includes the wait for a connection", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        const released = Promise.withResolvers<void>();
        const holder = hasty.transaction(() => released.promise);
        const [query, transaction] = [hasty.sql`select 1`, hasty.transaction((tx) => tx`select 1`)];
        expect(await timed(Promise.allSettled([query, transaction]))).toBeLessThan(15_000);
        await expect(query).rejects.toMatchObject(unavailable);
        await expect(transaction).rejects.toMatchObject(unavailable);
        released.resolve();
        await holder;
        expect(await hasty.sql`select 1 as one`).toEqual([{ one: 1 }]);
      });

      test("a query on a stalled server fails, and its connection is replaced", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        await whileStalled(hasty, async () => {
          const stuck = hasty.sql`insert into item values (1, 'perhaps')`;
          expect(await timed(stuck)).toBeLessThan(15_000);
          await expect(stuck).rejects.toMatchObject(unavailable);
          await answersAgain(hasty);
        });
      });

      test("a transaction on a stalled server fails at any point", async () => {
        const hasty = await another({ poolSize: 1, deadlineMs: 500 });
        for (const stallAt of ["begin", "statement", "commit"]) {
          let resume = (): void => undefined;
          const [row] = await hasty.sql`select pg_backend_pid() as pid`;
          const stall = (at: string): void => {
            if (at !== stallAt) return;
            process.kill(row?.pid, "SIGSTOP");
            resume = () => process.kill(row?.pid, "SIGCONT");
          };
          stall("begin");
          const stuck = hasty.transaction(async (tx) => {
            stall("statement");
            await tx`select 1`;
            stall("commit");
          });
          expect(await timed(stuck)).toBeLessThan(15_000);
          await expect(stuck).rejects.toMatchObject(unavailable);
          await answersAgain(hasty);
          resume();
        }
      });

      test("ready returns false soon while the server is stalled", async () => {
        const patient = await another({ poolSize: 1 });
        expect(await patient.ready()).toBe(true);
        await whileStalled(patient, async () => {
          const start = performance.now();
          expect(await patient.ready()).toBe(false);
          expect(performance.now() - start).toBeLessThan(15_000);
        });
      });
    });

    describe("lost connections", () => {
      const disconnectAll = (by: Database): Promise<unknown> => by.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;

      test("running queries and transactions are refused, the next ones work", async () => {
        const victim = await another({ poolSize: 4 });
        const killer = await another({ poolSize: 1 });
        for (let round = 0; round < 5; round++) {
          const cut = Promise.withResolvers<void>();
          const running = Promise.allSettled([
            victim.sql`select pg_sleep(40)`,
            victim.transaction(async (tx) => {
              await Promise.all([tx`select pg_sleep(40)`, tx`select 2`]);
            }),
            victim.transaction(async (tx) => {
              await tx`select 1`;
              await cut.promise;
              await tx`select 3`;
            }),
          ]);
          const atWork = async (): Promise<number> =>
            (
              await killer.sql`
                select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
                  and (state = 'active' and query like '%pg_sleep(40)%' or state = 'idle in transaction' and query = 'select 1')`
            ).length;
          await expect.poll(atWork, { interval: 20 }).toBe(3);
          await disconnectAll(killer);
          await sleep(100); // Idle connections notice.
          cut.resolve();
          for (const each of await running) expect(each).toMatchObject({ status: "rejected", reason: unavailable });
          const after = await Promise.all(Array.from({ length: 20 }, (_, n) => victim.sql`select ${n}::int as n`));
          expect(after.map(([row]) => row?.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
        }
      });

      test("under load every query gets its own answer or is refused", async () => {
        const victim = await another({ poolSize: 4 });
        const killer = await another({ poolSize: 1 });
        let isOver = false;
        let [answered, refused] = [0, 0];
        const client = async (id: number): Promise<void> => {
          for (let n = id; !isOver; n += 16) {
            try {
              const [row] = await victim.sql`select ${n}::int as n`;
              expect(row?.n).toBe(n);
              answered++;
            } catch (error) {
              expect(error).toMatchObject(unavailable);
              refused++;
            }
          }
        };
        const clients = Array.from({ length: 16 }, (_, id) => client(id));
        for (let cuts = 0; cuts < 9 || answered < 100 || refused === 0; cuts++) {
          await sleep(100);
          await disconnectAll(killer);
        }
        isOver = true;
        await Promise.all(clients);
        expect(await victim.ready()).toBe(true);
      });

      test("listeners reconnect and onReconnect is called", async () => {
        const heard: string[] = [];
        let reconnects = 0;
        await database.listen(
          "news",
          (payload) => heard.push(payload),
          () => reconnects++,
        );
        const killer = await another({ poolSize: 1 });
        await disconnectAll(killer);
        await expect.poll(() => reconnects).toBe(1);
        await killer.sql.notify("news", "after");
        await expect.poll(() => heard).toEqual(["after"]);
      });
    });

    describe("notifications", () => {
      test("reach every listener of the channel on every pool in order, until it stops", async () => {
        const other = await another({ poolSize: 1 });
        const [here, there, elsewhere]: [string[], string[], string[]] = [[], [], []];
        const first = await database.listen('a "channel"', (payload) => here.push(payload));
        await other.listen('a "channel"', (payload) => there.push(payload));
        await database.listen("quiet", (payload) => elsewhere.push(payload));
        for (const word of ["one", "two"]) await database.sql`select pg_notify('a "channel"', ${word})`;
        await expect
          .poll(() => [here, there])
          .toEqual([
            ["one", "two"],
            ["one", "two"],
          ]);
        await first.stop();
        await database.sql.notify('a "channel"', "three");
        await expect.poll(() => there.length).toBe(3);
        expect([here.length, elsewhere.length]).toEqual([2, 0]);
      });

      test("are sent only when their transaction commits", async () => {
        const heard: string[] = [];
        await database.listen("ledger", (payload) => heard.push(payload));
        await database
          .transaction(async (tx) => {
            await tx.notify("ledger", "undone");
            throw new Error("no");
          })
          .catch(() => undefined);
        await database.transaction((tx) => tx.notify("ledger", "done"));
        await expect.poll(() => heard).toEqual(["done"]);
      });
    });

    test("close waits for running work and refuses later work", async () => {
      const leaving = await another({ poolSize: 2 });
      const running = leaving.sql`select pg_sleep(1.5), 'done' as word`.execute();
      const isRunning = async () =>
        (
          await database.sql`select from pg_stat_activity where state = 'active' and query like '%pg_sleep(1.5)%done%'
          and pid <> pg_backend_pid()`
        ).length;
      await expect.poll(isRunning, { interval: 20 }).toBe(1);
      await leaving.close();
      expect((await running)[0]?.word).toBe("done");
      await expect(leaving.sql`select 1`).rejects.toMatchObject(unavailable);
      await expect(leaving.transaction((tx) => tx`select 1`)).rejects.toMatchObject(unavailable);
    });
  });
}
