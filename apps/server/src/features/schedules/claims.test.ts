import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createCron } from "../../engines/cron/croner-cron.ts";
import type { Transaction } from "../../engines/database/database.ts";
import {
  advanceWithoutRun,
  advanceWithRun,
  type ClaimedSchedule,
  claimSchedules,
  noteRun,
  pauseSchedule,
} from "./store.ts";
import { type DueDeps, workOnDue } from "./work-on-due.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
const users = ["usr_a", "usr_b", "usr_c"];

beforeAll(async () => {
  own = await testDatabase();
  await own.database.transaction(async (tx) => {
    for (const [n, id] of users.entries()) {
      await tx`insert into users (id, username, role, plan, created_at) values (${id}, ${id}, 'user', 'free', now())`;
      await tx`
        insert into api_keys (id, user_id, public, secret_hash, name, created_at)
        values (${`key_${id}`}, ${id}, ${`pub${n}`.padEnd(12, "x")}, ${Buffer.alloc(32)}, 'k', now())`;
    }
    await tx`
      insert into agents (id, owner_id, slug, visibility, latest_revision_id, created_at, updated_at)
      values ('agt_a', 'usr_a', 'a', 'private', 'rev_a', now(), now())`;
    await tx`
      insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at)
      values ('rev_a', 'agt_a', 1, 'draft', '{}', '[]', now())`;
  });
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database.sql`delete from runs`;
  await own.database.sql`delete from schedules`;
});

/** Due `secondsAgo`. */
async function add(user: string, count: number, secondsAgo: number): Promise<void> {
  await own.database.sql`
    insert into schedules (id, user_id, key_id, agent_id, agent_name, cron, timezone, input, missed, overlap, enabled,
      approve, connectors, base_url, next_at, upcoming, look_at, found_at)
    select 'sch_' || ${user}::text || n, ${user}, 'key_' || ${user}::text, 'agt_a', 'A', '* * * * *', 'UTC', '{}', 'skip',
      'skip', true, '{}', '{}', 'http://x', at, array[at], at, now()
    from generate_series(1, ${count}::int) n, (select now() - ${secondsAgo} * interval '1 second' as at) due`;
}

const claim = (wanted: number, leaseMs = 30_000) =>
  claimSchedules(own.database.sql, { wanted, leaseMs, mostLive: 100 });
const usersOf = (claimed: readonly ClaimedSchedule[]) => claimed.map(({ userId }) => userId).sort();

test("one schedule of each user is claimed before a second of any", async () => {
  await add("usr_a", 50, 30);
  await add("usr_b", 2, 20);
  await add("usr_c", 1, 10);
  expect(usersOf(await claim(3))).toEqual(["usr_a", "usr_b", "usr_c"]);
  expect(usersOf(await claim(3))).toEqual(["usr_a", "usr_a", "usr_b"]);
});

test("claims at the same time do not overlap, and nothing is claimed before its time", async () => {
  await add("usr_a", 30, 1);
  await add("usr_b", 30, -60);
  const claims = (await Promise.all([claim(20), claim(20), claim(20)])).flat();
  expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
  const rest = await claim(60);
  expect(usersOf([...claims, ...rest])).toEqual(Array(30).fill("usr_a"));
  expect(await claim(60)).toEqual([]);
});

test("after the lease another node claims the same due time; only one of them can use it", async () => {
  await add("usr_a", 1, 1);
  const { sql } = own.database;
  const [[first], [second]] = [await claim(1, 0), await claim(1)];
  if (!first || !second) throw new Error("Nothing was claimed");
  expect([second.id, second.nextAt, second.tries]).toEqual([first.id, first.nextAt, 2]);
  const upcoming = [new Date("2030-01-01T00:00:00Z")];
  const dueAt = first.nextAt ?? new Date();
  const use = (by: ClaimedSchedule, runId: string) =>
    own.database.transaction((tx) => advanceWithRun(tx, by, { dueAt, runId, upcoming }));
  const used = await Promise.all([use(second, "run_2"), use(first, "run_1")]);
  expect(used.toSorted()).toEqual([false, true]);
  // Whatever the other one decides comes too late.
  const loser = used[0] ? first : second;
  expect(await pauseSchedule(sql, loser, { reason: "x", skippedAt: dueAt })).toBe(false);
  await advanceWithoutRun(sql, loser, { upcoming: [new Date("2031-01-01T00:00:00Z")] });
  const [row] = await sql`select next_at, paused_reason, last_run_id from schedules`;
  expect(row).toEqual({ next_at: upcoming[0], paused_reason: null, last_run_id: used[0] ? "run_2" : "run_1" });
});

test("a run that was started by hand since the claim skips the due time", async () => {
  const { database } = own;
  const { sql } = database;
  await add("usr_a", 1, 1);
  const [claimed] = await claim(1);
  if (!claimed) throw new Error("Nothing was claimed");
  const insertRun = (tx: Transaction, id: string) => tx`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url,
      source_id)
    values (${id}, 'agt_a', 'rev_a', 'usr_a', 'usr_a', 'key_usr_a', '{}', 1, 1, '', ${claimed.id})`;
  const create = async ({ source }: Parameters<DueDeps["runs"]["create"]>[0]) => {
    await database.transaction(async (tx) => {
      await source?.within?.(tx, "run_due");
      await insertRun(tx, "run_due");
    });
    return {} as Awaited<ReturnType<DueDeps["runs"]["create"]>>;
  };
  const deps = {
    database,
    cron: createCron(),
    runs: { create },
    accounts: { callerOfKey: async () => ({ userId: "usr_a" }) },
    telemetry: { inTrace: (_span: unknown, work: () => unknown) => work() },
  } as unknown as DueDeps;
  const { worked } = await database.transaction(async (tx) => {
    await noteRun(tx, claimed.id, "run_by_hand");
    await insertRun(tx, "run_by_hand");
    const worked = workOnDue(deps, claimed);
    await waitFor("the due time to wait for the run", async () => {
      const { count } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%update schedules%'`;
      return count > 0;
    });
    return { worked };
  });
  await worked;
  expect(await sql`select id from runs`).toEqual([{ id: "run_by_hand" }]);
  const [row] = await sql`select last_run_id, last_due_at, last_skipped_at, skipped_reason, tries from schedules`;
  expect(row).toEqual({
    last_run_id: "run_by_hand",
    last_due_at: null,
    last_skipped_at: claimed.nextAt,
    skipped_reason: "A run of this schedule was still under way.",
    tries: 0,
  });
});
