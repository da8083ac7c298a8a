import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../apps/server/src/engines/database/free-port.ts";
import { connect, type Database } from "../../apps/server/src/engines/database/index.ts";
import { postmasterOf } from "../../apps/server/test/process/server-process.ts";
import { clusterAdminKey } from "../../apps/server/test/support/cluster.ts";
import { waitFor } from "../../apps/server/test/support/wait-for.ts";
import { allocator } from "../support/processes.ts";

export interface LogLine {
  at: number;
  level: number;
  text: string;
}

/** One installation as `npm start` runs it: a server process with its embedded PostgreSQL, and one home. */
export interface Installation {
  readonly url: string;
  readonly home: string;
  /** Undefined while the server does not run. */
  readonly pid: number | undefined;
  /** Increases with each start of the server. */
  readonly life: number;
  readonly database: Database;
  /** Lines at `warn` and above, and everything that is not JSON. */
  readonly log: readonly LogLine[];
  /** Ends of the server that the soak did not cause. */
  readonly crashes: string[];
  up(): readonly { url: string }[];
  /** Resolves when `/readyz` is 200; returns the seconds that it took. */
  start(): Promise<number>;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  untilReady(): Promise<void>;
  postmaster(): Promise<number | undefined>;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const warn = 40;
const startWithinMs = 120_000;
/** The server ends with this process, however it ends. */
const setpriv = "/usr/bin/setpriv";
const bound = existsSync(setpriv) ? [setpriv, "--pdeathsig", "KILL"] : [];

export async function install(env: Record<string, string>): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), "gantry-soak-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log: LogLine[] = [];
  const crashes: string[] = [];
  const expected = new Set<ChildProcess>();
  let child: ChildProcess | undefined;
  let life = 0;
  let isUp = false;
  let database: Database | undefined;

  function read(text: string): void {
    const line = text.startsWith("{") ? (JSON.parse(text) as { level: number }) : undefined;
    if (line === undefined || line.level >= warn) log.push({ at: Date.now(), level: line?.level ?? 0, text });
  }

  async function untilReady(): Promise<void> {
    const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
    await waitFor(
      "the server to be ready",
      async () => {
        const ready = await isReady();
        if (!ready) await sleep(100);
        return ready;
      },
      startWithinMs,
    );
  }

  const installation: Installation = {
    url,
    home,
    log,
    crashes,
    get pid() {
      return child?.pid;
    },
    get life() {
      return life;
    },
    get database() {
      if (!database) throw new Error("The installation has not started");
      return database;
    },
    up: () => (isUp ? [{ url }] : []),
    async start() {
      const beganAt = performance.now();
      const [file = process.execPath, ...args] = [...bound, process.execPath, join(root, "apps/server/src/main.ts")];
      const starting = spawn(file, args, {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH: process.env.PATH ?? "",
          HOME: process.env.HOME ?? "",
          NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "gantry"),
          ...allocator,
          PORT: String(port),
          GANTRY_HOME: home,
          GANTRY_ADMIN_KEY: clusterAdminKey,
          GANTRY_ALLOW_PRIVATE_NETWORK: "1",
          GANTRY_FIND_MODELS: "0",
          ...env,
        },
      });
      child = starting;
      life++;
      for (const stream of [starting.stdout, starting.stderr]) {
        if (stream) createInterface({ input: stream }).on("line", read);
      }
      starting.once("exit", (code, signal) => {
        if (expected.has(starting)) return;
        isUp = false;
        crashes.push(`the server ended by itself (${code ?? signal}): ${JSON.stringify(log.slice(-3))}`);
      });
      await untilReady();
      isUp = true;
      database ??= connectTo(home);
      return (performance.now() - beganAt) / 1000;
    },
    async end(signal) {
      isUp = false;
      const ending = child;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return { code: null, signal: null };
      expected.add(ending);
      const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
        ending.once("exit", (code, by) => resolve({ code, signal: by }));
      });
      ending.kill(signal);
      const result = await exit;
      child = undefined;
      return result;
    },
    untilReady,
    postmaster: () => postmasterOf(home),
    async close() {
      await database?.close();
      await installation.end("SIGTERM");
      const pid = await postmasterOf(home);
      if (pid !== undefined) {
        process.kill(pid, "SIGINT");
        await waitFor("PostgreSQL to stop", async () => (await postmasterOf(home)) === undefined, 60_000);
      }
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return installation;
}

/** The embedded PostgreSQL may return at another port. */
function connectTo(home: string): Database {
  const { password, dataDir } = JSON.parse(readFileSync(join(home, "postgres.json"), "utf8"));
  let known = 0;
  const port = () => {
    try {
      known = Number(readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n")[3]) || known;
    } catch {
      // PostgreSQL is down.
    }
    return known;
  };
  const url = `postgres://gantry:${password}@127.0.0.1:${port()}/gantry`;
  return connect({ url, port, poolSize: 3, deadlineMs: 60_000, applicationName: "soak" });
}
