import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseAccount } from "../../src/engines/database/account.ts";
import { findBinaries } from "../../src/engines/database/binaries.ts";
import {
  clusterIn,
  initCluster,
  readPostmasterFile,
  spawnPostmaster,
  superuser,
} from "../../src/engines/database/cluster.ts";
import { freePort } from "../../src/engines/database/free-port.ts";
import { connect } from "../../src/engines/database/index.ts";

/** A separate PostgreSQL that a test may kill. Its address survives `kill` and `start`. */
export interface OwnPostgres {
  /** The address of an empty database. */
  url: string;
  /** kill -9 of the postmaster; its backends end when they notice. */
  kill(): Promise<void>;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Stops all its processes (SIGSTOP) until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

const password = "own";
const startWithinMs = 60_000;

export async function startOwnPostgres(settings: Record<string, string | number> = {}): Promise<OwnPostgres> {
  const home = await mkdtemp(join(tmpdir(), "gantry-postgres-"));
  const account = await chooseAccount(await findBinaries(), home, () => undefined);
  const cluster = clusterIn(account);
  await initCluster(cluster, password);
  const port = await freePort();
  let postmaster: Awaited<ReturnType<typeof spawnPostmaster>> | undefined;

  const isOver = () => !postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null;

  async function start(): Promise<void> {
    const until = Date.now() + startWithinMs;
    for (;;) {
      postmaster = await spawnPostmaster(cluster, port, { max_connections: 200, ...settings });
      // It refuses to start while backends of the killed one still run: retry on the same port.
      while (!isOver()) {
        const file = await readPostmasterFile(cluster);
        if (file?.pid === postmaster.pid && file?.status === "ready") return;
        await sleep(20);
      }
      if (Date.now() > until) throw new Error(`PostgreSQL did not start, see ${cluster.logFile}`);
      await sleep(100);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!postmaster || isOver()) return;
    postmaster.ref();
    const ended = once(postmaster, "exit");
    postmaster.kill(signal);
    await ended;
  }

  await start();
  const url = `postgres://${superuser}:${password}@127.0.0.1:${port}`;
  const admin = connect({ url: `${url}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  await admin.sql.unsafe("create database gantry");
  await admin.close();
  return {
    url: `${url}/gantry`,
    kill: () => end("SIGKILL"),
    start,
    async pause() {
      const pid = postmaster?.pid ?? 0;
      process.kill(pid, "SIGSTOP"); // first, so that it forks no more children
      for (const child of await childrenOf(pid)) process.kill(child, "SIGSTOP");
    },
    async resume() {
      const pid = postmaster?.pid ?? 0;
      for (const child of await childrenOf(pid)) process.kill(child, "SIGCONT");
      process.kill(pid, "SIGCONT");
    },
    async stop() {
      await end("SIGINT");
      await rm(account.dir, { recursive: true, force: true, maxRetries: 10 });
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function childrenOf(parent: number): Promise<number[]> {
  const children: number[] = [];
  for (const name of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    // The state and the parent follow the name in parentheses.
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    if (stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(parent)) children.push(Number(name));
  }
  return children;
}
