import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, type FileHandle, lchown, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Account } from "./account.ts";
import { diskFullError } from "./unavailable.ts";

export interface Cluster {
  account: Account;
  dataDir: string;
  logFile: string;
  maxConnections: number;
}

export const superuser = "postgres";

/** Some connections are left for operators' commands. */
const spareConnections = 15;

export function clusterIn(account: Account, connections = 0): Cluster {
  return {
    account,
    dataDir: join(account.dir, "postgres"),
    logFile: join(account.dir, "postgres.log"),
    maxConnections: Math.max(100, connections + spareConnections),
  };
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Creates the data directory under a temporary name, so that an interrupted start begins again. `onCreated` runs before
 * the directory gets its final name.
 */
export async function initCluster(cluster: Cluster, password: string, onCreated = async () => {}): Promise<void> {
  const { account, dataDir } = cluster;
  const unfinished = `${dataDir}.new`;
  const passwordFile = `${dataDir}.pw`;
  await rm(unfinished, { recursive: true, force: true });
  await writeFile(passwordFile, password, { mode: account.kind === "nobody" ? 0o644 : 0o600 });
  try {
    await run(account, account.binaries.initdb, [
      ...["--pgdata", unfinished, "--username", superuser, "--pwfile", passwordFile, "--auth", "scram-sha-256"],
      ...["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"],
      "--data-checksums",
      // The password has 256 random bits. Key stretching would only slow down every connect.
      ...["--set", "scram_iterations=1"],
    ]);
    await onCreated();
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    const full = /^.*(No space left on device|could not extend file).*$/m.exec(String(error))?.[0];
    throw full === undefined ? error : diskFullError(dirname(dataDir), full, error);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, dataDir);
}

async function run(account: Account, program: string, args: readonly string[]): Promise<void> {
  const { file, args: all, ...identity } = account.command(program, args);
  const child = spawn(file, all, {
    ...identity,
    cwd: account.dir,
    env: serverEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4000);
  });
  const [code] = await once(child, "close");
  const nameless = /could not look up effective user ID (\d+)/.exec(stderr)?.[1];
  if (nameless !== undefined)
    throw new Error(
      `PostgreSQL needs a user with a name, and user ${nameless} does not have one. Add the user to /etc/passwd, or run as another user.`,
    );
  if (code !== 0) throw new Error(`${program} failed: ${stderr.trim()}`);
}

/** The server does not inherit our environment: PGDATA, PGPORT, LC_ALL and others would change its behaviour. */
const serverEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" };

/**
 * Listens on the loopback address, because the path of a Unix socket is limited to 107 bytes and paths of homes are longer.
 * Every connection needs the password.
 */
const settings: Record<string, string | number> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "160MB",
  wal_compression: "pglz",
  max_wal_size: "1GB",
  checkpoint_timeout: "10min",
  random_page_cost: 1.1,
  jit: "off",
  // Thousands of predictions end each second. Their row space must be reused soon.
  autovacuum_naptime: "15s",
  password_encryption: "scram-sha-256",
  scram_iterations: 1,
  // Errors of single statements go to the client that sent them.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
  log_line_prefix: "%m [%p] ",
  log_timezone: "UTC",
  timezone: "UTC",
};

/**
 * Starts the server without waiting for it. The server has its own session, so that Ctrl-C does not reach it, and does not
 * keep our process alive.
 */
export async function spawnPostmaster(
  cluster: Cluster,
  port: number,
  extraSettings: Record<string, string | number> = {},
): Promise<ChildProcess> {
  const { account, dataDir, logFile, maxConnections } = cluster;
  const flags = Object.entries({ ...settings, max_connections: maxConnections, ...extraSettings, port }).flatMap(
    ([key, value]) => ["-c", `${key}=${value}`],
  );
  const { file, args, ...identity } = account.command(account.binaries.postgres, ["-D", dataDir, ...flags]);
  const log: FileHandle = await open(logFile, "a", 0o600);
  try {
    const child = spawn(file, args, {
      ...identity,
      cwd: account.dir,
      env: serverEnvironment,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    child.on("error", () => undefined);
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

/** The data may belong to another account after the volume moved, or if the machine allows another kind of account now. */
export async function takeOwnership({ account, dataDir }: Cluster): Promise<void> {
  if (process.getuid?.() !== 0 || (await stat(dataDir)).uid === account.uid) return;
  for (const entry of await readdir(dataDir, { recursive: true }))
    await lchown(join(dataDir, entry), account.uid, account.uid);
  await chown(dataDir, account.uid, account.uid); // Last: marks the work as done.
}

export interface PostmasterFile {
  pid: number;
  startedAt: number;
  port: number;
  status: string;
}

/** Undefined if the file is missing or partly written. */
export async function readPostmasterFile(cluster: Pick<Cluster, "dataDir">): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster.dataDir, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.trim());
  const [pid, startedAt, port] = [Number(lines[0]), Number(lines[2]), Number(lines[3])];
  if (!pid || !startedAt || !port) return undefined;
  return { pid, startedAt, port, status: lines[7] ?? "" };
}
