import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, readPostmasterFile, spawnPostmaster, takeOwnership } from "./cluster.ts";
import { freePort } from "./free-port.ts";
import { identify, isStill, type ProcessIdentity, workingDirectory } from "./processes.ts";
import { boundLog, lastWords } from "./server-log.ts";

/** A server that runs and has said that it is ready. */
export interface Postmaster extends ProcessIdentity {
  port: number;
  adopted: boolean;
}

const startWithinMs = 60_000;
const recoverWithinMs = 600_000;
const stopWithinMs = 20_000;

/**
 * The running server of a data directory: one that an earlier process left behind, or a new one.
 *
 *     pid file ── none ───────────────────────────────────────► spawn
 *         ├── its process lives: wait until "ready" ──────────► adopt   (or until it is gone ──► spawn)
 *         └── its process is dead, a zombie, or not a server ──► disown the file ──► spawn
 *     spawn ── exits early (port taken; backends of a killed server still hold its memory) ──► spawn again, bounded
 *
 * `onFailure` is told the last words of each one that exits early; `signal` ends the trying.
 */
export async function ensurePostmaster(
  cluster: Cluster,
  preferredPort: number | undefined,
  onProgress: (text: string) => void,
  onFailure: (words: string) => void,
  signal?: AbortSignal,
): Promise<Postmaster> {
  const until = performance.now() + startWithinMs;
  let port = preferredPort ?? (await freePort());
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1000)) {
    const adopted = await adopt(cluster, onProgress);
    if (adopted) return adopted;
    const started = await start(cluster, port, onProgress);
    if (started) return started;
    const words = await lastWords(cluster);
    if (performance.now() > until) throw new Error(`PostgreSQL does not start. ${words}`);
    onFailure(words);
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
  onProgress(`ClaimLoop over the PostgreSQL that an earlier start left running (process ${file.pid})`);
  return whenReady(cluster, identity, true);
}

/**
 * The server refuses to start while the process in its pid file seems to live, which a zombie and a stranger with the same
 * number do. Removing the file would also remove the server's check for backends that are still at work, so only the
 * number is replaced, by one that no process can have.
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
      throw new Error(`PostgreSQL (process ${identity.pid}) does not become ready, see ${cluster.logFile}`);
    await sleep(5);
  }
  return undefined;
}

/** Stops the server: open transactions are rolled back, nothing that was committed is lost. */
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
