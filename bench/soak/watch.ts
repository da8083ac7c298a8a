import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../../apps/server/test/proof/client.ts";
import { cpuSecondsOf } from "../support/processes.ts";
import type { Stage } from "./stage.ts";

/** Megabytes, counts and milliseconds at one moment. */
export interface Sample {
  at: number;
  /** Changes with each start of the server or of PostgreSQL: figures of processes begin again. */
  life: string;
  figures: Record<string, number>;
  /** CPU seconds so far. */
  cpu: { server: number; postgres: number };
  tables: Map<string, { bytes: number; live: number; dead: number }>;
}

const everyMs = 10_000;

export function startWatch(stage: Stage): { samples: readonly Sample[]; stop(): Promise<void> } {
  const samples: Sample[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const next = Date.now() + everyMs;
      // Nothing to measure while the server is down.
      await takeSample(stage).then(
        (sample) => sample && samples.push(sample),
        () => undefined,
      );
      while (Date.now() < next && !isOver) await sleep(100);
    }
  })();
  return {
    samples,
    async stop() {
      isOver = true;
      await watching;
    },
  };
}

export async function takeSample({ installation }: Stage): Promise<Sample | undefined> {
  const { pid, life, home, url, database } = installation;
  if (pid === undefined) return undefined;
  const postmaster = await installation.postmaster();
  const { status, text: metrics } = await call(url, "GET", "/metrics");
  if (status !== 200) return undefined;
  const metric = (name: string) => Number(new RegExp(`^${name} (.*)$`, "m").exec(metrics)?.[1] ?? Number.NaN);
  const servers = processesBelow(pid).filter(({ name }) => name !== "postgres");
  const postgres = postmaster === undefined ? [] : processesBelow(postmaster);
  const sum = (of: Process[], figure: keyof Omit<Process, "name" | "pid">) =>
    of.reduce((all, one) => all + one[figure], 0);
  return {
    at: Date.now(),
    life: `${life} ${postmaster}`,
    tables: await readTables(database.sql),
    cpu: { server: cpuSecondsOf(pid), postgres: postmaster === undefined ? 0 : cpuSecondsOf(postmaster) },
    figures: {
      "server memory (MB)": sum(servers, "resident") / 1e6,
      "JavaScript heap (MB)": metric("nodejs_heap_size_used_bytes") / 1e6,
      "server descriptors": sum(servers, "descriptors"),
      "server sockets": sum(servers, "sockets"),
      "server threads": sum(servers, "threads"),
      "event loop delay p99 (ms)": metric("nodejs_eventloop_lag_p99_seconds") * 1000,
      "PostgreSQL memory (MB)": sum(postgres, "proportional") / 1e6,
      "PostgreSQL processes": postgres.length,
      "WAL (MB)": sizeOf(join(home, "postgres", "pg_wal")) / 1e6,
      "files in spool": countFiles(join(home, "spool")),
      "stored files (MB)": sizeOf(join(home, "blobs")) / 1e6,
      "queued predictions": metric("gantry_queue_jobs"),
      "pending webhooks": metric("gantry_webhooks_pending"),
    },
  };
}

interface Process {
  pid: number;
  name: string;
  /** Bytes. */
  resident: number;
  /** Bytes; shared pages are divided among their processes. */
  proportional: number;
  threads: number;
  descriptors: number;
  sockets: number;
}

/** A process and its descendants. */
function processesBelow(pid: number): Process[] {
  const children = parents();
  const all = (id: number): number[] => [id, ...(children.get(id) ?? []).flatMap(all)];
  return all(pid).map(readProcess);
}

export const childrenOf = (pid: number): Process[] => (parents().get(pid) ?? []).map(readProcess);

/** Processes by the id of their parent. */
function parents(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = readText(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

function readProcess(pid: number): Process {
  const status = readText(`/proc/${pid}/status`);
  const kilobytes = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  const descriptors = list(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return {
    pid,
    name: readText(`/proc/${pid}/comm`).trim(),
    resident: kilobytes(status, "VmRSS") * 1024,
    proportional: kilobytes(readText(`/proc/${pid}/smaps_rollup`), "Pss") * 1024,
    threads: kilobytes(status, "Threads"),
    descriptors: descriptors.length,
    sockets: descriptors.filter((target) => target.startsWith("socket:")).length,
  };
}

/** Empty if the process ended meanwhile. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function filesBelow(path: string): string[] {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

const countFiles = (path: string) => filesBelow(path).length;

function sizeOf(path: string): number {
  return filesBelow(path).reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

async function readTables(sql: Stage["installation"]["database"]["sql"]): Promise<Sample["tables"]> {
  const rows = await sql<{ name: string; bytes: number; live: number; dead: number }[]>`
    select relname as name, pg_total_relation_size(relid)::float8 as bytes, n_live_tup::float8 as live,
      n_dead_tup::float8 as dead
    from pg_stat_user_tables`;
  return new Map(rows.map(({ name, ...figures }) => [name, figures]));
}
