import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../apps/server/src/engines/database/index.ts";
import { cpuSecondsOf } from "./processes.ts";

/** CPU seconds. */
export interface CpuCounts {
  server: number;
  /** Sessions of PostgreSQL. */
  sessions: number;
  /** Its other processes: WAL writer, checkpointer, background writer, I/O workers, autovacuum. */
  background: number;
  broker: number;
}

export interface TableCounts {
  inserted: number;
  updated: number;
  deleted: number;
}

interface DatabaseCounts {
  statements: number;
  commits: number;
  /** Of the write-ahead log. */
  syncs: number;
  walBytes: number;
  fullPages: number;
  tables: Map<string, TableCounts>;
}

export interface Counted extends DatabaseCounts {
  cpu: CpuCounts;
  seconds: number;
}

/** Sessions report their counts when idle, after ten seconds at the latest. */
const reportedAfterMs = 11_000;
const ticksPerSecond = 100;
const isBackground =
  /postgres: (?:walwriter|checkpointer|background writer|io worker|autovacuum|logical replication launcher)/;

interface ProcessTimes {
  parent: number;
  own: number;
  /** Time of children that have ended. */
  ended: number;
}

function timesOf(pid: number | string): ProcessTimes {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (n: number) => Number(fields[n]);
  return {
    parent: at(1),
    own: (at(11) + at(12)) / ticksPerSecond,
    ended: (at(13) + at(14)) / ticksPerSecond,
  };
}

/** Sessions of the pool stay open, so children that have ended are workers of autovacuum. */
function cpuOfPostgres(postmaster: number): Pick<CpuCounts, "sessions" | "background"> {
  const { own, ended } = timesOf(postmaster);
  const counts = { sessions: 0, background: own + ended };
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const times = timesOf(pid);
      if (times.parent !== postmaster) continue;
      const title = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      counts[isBackground.test(title) ? "background" : "sessions"] += times.own;
    } catch {
      // The process ended meanwhile.
    }
  }
  return counts;
}

async function countDatabase({ sql }: Database): Promise<DatabaseCounts> {
  const [row] = await sql<Omit<DatabaseCounts, "tables">[]>`
    select (select sum(calls)::float8 from pg_stat_statements) as statements,
      (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
      (select sum(fsyncs)::float8 from pg_stat_io where object = 'wal') as syncs,
      (select wal_bytes::float8 from pg_stat_wal) as "walBytes",
      (select wal_fpi::float8 from pg_stat_wal) as "fullPages"`;
  const tables = await sql<({ name: string } & TableCounts)[]>`
    select coalesce(pg_partition_root(relid), relid)::regclass::text as name, sum(n_tup_ins)::float8 as inserted,
      sum(n_tup_upd)::float8 as updated, sum(n_tup_del)::float8 as deleted
    from pg_stat_user_tables group by 1`;
  if (!row) throw new Error("the database has no statistics");
  return { ...row, tables: new Map(tables.map(({ name, ...counts }) => [name, counts])) };
}

const less = <Counts extends object>(now: Counts, before: Counts | undefined, share = 1): Counts => {
  const entries = Object.entries(now) as [keyof Counts, number][];
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Math.max(0, value - Number(before?.[key] ?? 0) * share)]),
  ) as Counts;
};

export interface Watched {
  /** Counts what `work` causes, including what the server does afterwards because of it. */
  count(work: () => Promise<unknown>): Promise<Counted>;
  database: Database;
  close(): Promise<void>;
}

/** Counts the work of a server, its PostgreSQL (which has pg_stat_statements) and its RabbitMQ, if any. */
export async function watch(url: string, server: number, broker: number | undefined): Promise<Watched> {
  const database = connect({ url, poolSize: 1, deadlineMs: 120_000 });
  await database.sql`create extension if not exists pg_stat_statements`;
  const [{ pid } = { pid: 0 }] = await database.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const postmaster = timesOf(pid).parent;
  const countCpu = (): CpuCounts => ({
    server: cpuSecondsOf(server),
    ...cpuOfPostgres(postmaster),
    broker: broker === undefined ? 0 : cpuSecondsOf(broker),
  });
  await sleep(reportedAfterMs);
  return {
    database,
    close: () => database.close(),
    async count(work) {
      const [startedAt, before, cpuBefore] = [performance.now(), await countDatabase(database), countCpu()];
      await work();
      // Autovacuum and the writers of PostgreSQL follow a load.
      await sleep(reportedAfterMs);
      const { tables, ...totals } = await countDatabase(database);
      const { tables: tablesBefore, ...totalsBefore } = before;
      return {
        ...less(totals, totalsBefore),
        tables: new Map([...tables].map(([name, counts]) => [name, less(counts, tablesBefore.get(name))])),
        cpu: less(countCpu(), cpuBefore),
        seconds: (performance.now() - startedAt) / 1000,
      };
    },
  };
}

/** Subtracts what the server does without any request in the same time. */
export function withoutIdle(counted: Counted, idle: Counted): Counted {
  const share = counted.seconds / idle.seconds;
  const { tables, cpu, seconds, ...totals } = counted;
  const { tables: idleTables, cpu: idleCpu, seconds: _, ...idleTotals } = idle;
  return {
    ...less(totals, idleTotals, share),
    tables: new Map([...tables].map(([name, counts]) => [name, less(counts, idleTables.get(name), share)])),
    cpu: less(cpu, idleCpu, share),
    seconds,
  };
}
