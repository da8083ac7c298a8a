import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerProcess, startServer } from "../process/server-process.ts";

export const clusterAdminKey = "admin-key-of-clusters-0123456789-abcdef";
const secretKey = Buffer.alloc(32, 7).toString("base64");

/** The servers end with this process, however it ends. */
const setpriv = "/usr/bin/setpriv";
const bound = existsSync(setpriv) ? [setpriv, "--pdeathsig", "KILL"] : [];

/** A server process that can be killed and restarted. Its home stays, its address changes. */
export interface ClusterNode {
  readonly name: string;
  readonly url: string;
  readonly isUp: boolean;
  /** Seconds of the last start: a measure of the machine's load. */
  readonly startSeconds: number;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** Stops the process (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** SIGTERM; returns the exit code or signal. */
  terminate(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Output of all its processes. */
  output(): string;
  /** Exits that the test did not cause: each is a bug. */
  readonly crashes: string[];
}

export interface Cluster {
  nodes: ClusterNode[];
  node(name: string): ClusterNode;
  up(): ClusterNode[];
  close(): Promise<void>;
}

/**
 * Real server processes on one PostgreSQL, each with its own home, as an operator runs them on several machines.
 * The first one applies the migrations before the others start.
 */
export async function startCluster(options: {
  databaseUrl: string;
  env?: Record<string, string>;
  nodes: Record<string, Record<string, string>>;
}): Promise<Cluster> {
  const room = await mkdtemp(join(tmpdir(), "gantry-cluster-"));
  const nodes = Object.entries(options.nodes).map(([name, env]) =>
    createNode(name, {
      DATABASE_URL: options.databaseUrl,
      GANTRY_HOME: join(room, name),
      GANTRY_ADMIN_KEY: clusterAdminKey,
      GANTRY_SECRET_KEY: secretKey,
      GANTRY_ALLOW_PRIVATE_NETWORK: "1",
      GANTRY_LOG_LEVEL: "warn",
      ...options.env,
      ...env,
    }),
  );
  const close = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(room, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const [first, ...others] = nodes;
    await first?.start();
    await Promise.all(others.map((node) => node.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    nodes,
    node(name) {
      const found = nodes.find((node) => node.name === name);
      if (!found) throw new Error(`unknown node ${name}`);
      return found;
    },
    up: () => nodes.filter((node) => node.isUp),
    close,
  };
}

function createNode(name: string, env: Record<string, string>): ClusterNode {
  let server: ServerProcess | undefined;
  let url = "";
  let isUp = false;
  let startSeconds = 0;
  let written = "";
  const endedByUs = new Set<ServerProcess>();
  const crashes: string[] = [];
  const output = () => written + (server ? server.stdout() + server.stderr() : "");

  async function end(signal: NodeJS.Signals) {
    isUp = false;
    const ending = server;
    if (!ending) return { code: null, signal: null };
    endedByUs.add(ending);
    ending.kill(signal);
    const exit = await ending.exit;
    if (server === ending) {
      written = output();
      server = undefined;
    }
    return exit;
  }

  return {
    name,
    get url() {
      return url;
    },
    get isUp() {
      return isUp;
    },
    get startSeconds() {
      return startSeconds;
    },
    async start() {
      const startedAt = performance.now();
      const starting = startServer(env, bound);
      server = starting;
      void starting.exit.then(({ code, signal: by }) => {
        if (endedByUs.has(starting)) return;
        isUp = false;
        crashes.push(`${name} ended by itself (${code ?? by}):\n${starting.stderr().slice(-3000)}`);
      });
      url = await starting.url();
      startSeconds = (performance.now() - startedAt) / 1000;
      isUp = true;
    },
    async kill() {
      await end("SIGKILL");
    },
    pause: () => server?.kill("SIGSTOP"),
    resume: () => server?.kill("SIGCONT"),
    terminate: () => end("SIGTERM"),
    output,
    crashes,
  };
}
