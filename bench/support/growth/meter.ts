import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, type Database } from "../../../apps/server/src/engines/database/index.ts";
import { median } from "../median.ts";
import { treeOf } from "../processes.ts";

export interface Cost {
  /** Median time of a call. */
  ms: number;
  /** Median CPU time of server and PostgreSQL for a call. */
  cpuMs: number;
  /** Pages of 8 KB that PostgreSQL reads for a call, from memory or disk. */
  pages: number;
}

/** Counts the cost of requests to a server with an embedded PostgreSQL that has loaded pg_stat_statements. */
export interface Meter {
  /** Pages of all statements since the last reset. */
  allPages(): Promise<number>;
  reset(): Promise<void>;
  measure(calls: number, call: (n: number) => Promise<unknown>): Promise<Cost>;
  close(): Promise<void>;
}

/** Connects to the running PostgreSQL of a home: the service's database, or `postgres` as the superuser. */
export async function connectTo(home: string, role: "gantry" | "postgres"): Promise<Database> {
  const { password, dataDir } = JSON.parse(await readFile(join(home, "postgres.json"), "utf8"));
  const port = (await readFile(join(dataDir, "postmaster.pid"), "utf8")).split("\n")[3];
  const url = `postgres://${role}:${password}@127.0.0.1:${port}/${role}`;
  return connect({ url, poolSize: 1, deadlineMs: 600_000 });
}

/** PostgreSQL counts statements after its next start. */
export async function countStatements(home: string): Promise<void> {
  const admin = await connectTo(home, "postgres");
  await admin.sql.unsafe("alter system set shared_preload_libraries = 'pg_stat_statements'");
  await admin.sql.unsafe("create extension if not exists pg_stat_statements");
  await admin.close();
}

export async function openMeter(home: string, pid: number): Promise<Meter> {
  const admin = await connectTo(home, "postgres");
  const { sql } = admin;
  const reset = async (): Promise<void> => {
    await sql`select pg_stat_statements_reset()`;
  };
  /** Pages of statements that were executed at least this many times. */
  async function pagesOf(least: number): Promise<number> {
    const [row] = await sql<{ pages: number }[]>`
      select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 as pages from pg_stat_statements
      where dbid = (select oid from pg_database where datname = 'gantry') and calls >= ${least}`;
    return row?.pages ?? 0;
  }
  return {
    reset,
    allPages: () => pagesOf(1),
    async measure(calls, call) {
      await reset();
      const pids = treeOf(pid);
      const [times, cpu]: [number[], number[]] = [[], []];
      for (let n = 0; n < calls; n++) {
        const usedBefore = cpuNanosOf(pids);
        const startedAt = performance.now();
        await call(n);
        times.push(performance.now() - startedAt);
        cpu.push((cpuNanosOf(pids) - usedBefore) / 1e6);
      }
      // Statements of background work run less often than those of the calls.
      const pages = (await pagesOf(Math.max(1, Math.ceil(calls / 2)))) / calls;
      return { ms: median(times), cpuMs: median(cpu), pages };
    },
    close: () => admin.close(),
  };
}

/** CPU time of all threads of some processes. */
function cpuNanosOf(pids: readonly number[]): number {
  let sum = 0;
  for (const id of pids) {
    try {
      for (const thread of readdirSync(`/proc/${id}/task`)) {
        sum += Number(readFileSync(`/proc/${id}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
      }
    } catch {
      // The process ended meanwhile.
    }
  }
  return sum;
}
