import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, readPostmasterFile, spawnPostmaster, takeOwnership } from "./cluster.ts";
import { freePort } from "./free-port.ts";
import { identify, isStill, type ProcessIdentity, workingDirectory } from "./processes.ts";
import { boundLog, logTail } from "./server-log.ts";

/** A server that is ready. */
export interface Postmaster extends ProcessIdentity {
  port: number;
  adopted: boolean;
}

const startWithinMs = 60_000;
const recoverWithinMs = 600_000;
const stopWithinMs = 20_000;

/**
 * Adopts the server that an earlier process left running, or starts a new one.
 *
 *     pid file ── none ───────────────────────────────────────► spawn
 *         ├── its process lives: wait until "ready" ──────────► adopt   (or until it is gone ──► spawn)
 *         └── its process is dead, a zombie, or not a server ──► disown the file ──► spawn
 *     spawn ── exits early (port taken; backends of a killed server still use its memory) ──► spawn again, bounded
 *
 * `onFailure` receives the end of the log after each early exit.
 */
export async function ensurePostmaster(
  cluster: Cluster,
  preferredPort: number | undefined,
  onProgress: (text: string) => void,
  onFailure: (tail: string) => void,
  signal?: AbortSignal,
): Promise<Postmaster> {
  const until = performance.now() + startWithinMs;
  let port = preferredPort ?? (await freePort());
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1000)) {
    const adopted = await adopt(cluster, onProgress);
    if (adopted) return adopted;
    const started = await start(cluster, port, onProgress);
    if (started) return started;
    const tail = await logTail(cluster);
    if (performance.now() > until) throw new Error(`PostgreSQL does not start. ${tail}`);
    onFailure(tail);
    signal?.throwIfAborted();
    await sleep(waitMs);
    port = await freePort();
  }
}

async function adopt(cluster: Cluster, onProgress: (text: string) => void): Promise<Postmaster | undefined> {
  const file = await readPostmasterFile(cluster);
  if (!file) return undefined;
  const identity = await identify(file.pid);
  const directory = identity && (await workingDirectory(file.pid));
  if (!identity || (directory !== undefined && directory !== cluster.dataDir)) {
    await disown(cluster, file.pid);
    return undefined;
  }
  onProgress(`Taking over the PostgreSQL that an earlier start left running (process ${file.pid})`);
  return whenReady(cluster, identity, true);
}

/**
 * The server does not start while the process in its pid file exists, even if that is a zombie or another program.
 * Replaces the pid with an impossible one. Removing the file would disable the check for backends that still run.
 */
async function disown(cluster: Cluster, pid: number): Promise<void> {
  const path = join(cluster.dataDir, "postmaster.pid");
  const text = await readFile(path, "utf8").catch(() => "");
  if (text.startsWith(`${pid}\n`)) await writeFile(path, text.replace(/^\d+/, "99999999"));
}

async function start(
  cluster: Cluster,
  port: number,
  onProgress: (text: string) => void,
): Promise<Postmaster | undefined> {
  await boundLog(cluster);
  await takeOwnership(cluster);
  onProgress("Starting PostgreSQL");
  const child = await spawnPostmaster(cluster, port);
  const identity = child.pid === undefined ? undefined : await identify(child.pid);
  if (!identity) return undefined;
  return whenReady(cluster, identity, false);
}

async function whenReady(
  cluster: Cluster,
  identity: ProcessIdentity,
  adopted: boolean,
): Promise<Postmaster | undefined> {
  const until = performance.now() + recoverWithinMs;
  while (await isStill(identity)) {
    const file = await readPostmasterFile(cluster);
    if (file?.pid === identity.pid && file.status === "ready") return { ...identity, port: file.port, adopted };
    if (performance.now() > until)
      throw new Error(`PostgreSQL (process ${identity.pid}) does not become ready. See ${cluster.logFile}`);
    await sleep(5);
  }
  return undefined;
}

/** Rolls back open transactions. Committed data is safe. */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!(await isStill(postmaster))) return;
    process.kill(postmaster.pid, signal);
    const until = performance.now() + stopWithinMs;
    while (performance.now() < until) {
      if (!(await isStill(postmaster))) return;
      await sleep(10);
    }
  }
}
