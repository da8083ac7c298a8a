import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, type FileHandle, lchown, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Account } from "./account.ts";
import { noRoomIn } from "./unavailable.ts";

/** Where one PostgreSQL keeps its things. */
export interface Cluster {
  account: Account;
  dataDir: string;
  logFile: string;
}

export const superuser = "postgres";

export function clusterIn(account: Account): Cluster {
  return { account, dataDir: join(account.dir, "postgres"), logFile: join(account.dir, "postgres.log") };
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Makes the data directory. A half-made one never carries the final name, so an interrupted start begins anew; `onMade`
 * is done before it gets that name, and not at all where nothing could be made.
 */
export async function initCluster(cluster: Cluster, password: string, onMade = async () => {}): Promise<void> {
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
      // The password is 256 random bits: stretching it would only slow down every connect.
      ...["--set", "scram_iterations=1"],
    ]);
    await onMade();
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    const full = /^.*(No space left on device|could not extend file).*$/m.exec(String(error))?.[0];
    throw full === undefined ? error : noRoomIn(dirname(dataDir), full, error);
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
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const [code] = await once(child, "close");
  const nameless = /could not look up effective user ID (\d+)/.exec(said)?.[1];
  if (nameless !== undefined)
    throw new Error(
      `PostgreSQL runs only as a user with a name, and user ${nameless} has none: add one to /etc/passwd, or run as another.`,
    );
  if (code !== 0) throw new Error(`${program} failed: ${said.trim()}`);
}

/** Nothing of our own environment reaches the server: PGDATA, PGPORT, LC_ALL and the like would change its ways. */
const serverEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" };

/**
 * Settings of a server for one small service. It listens on the loopback address only: a Unix socket's path may not be
 * longer than 107 bytes, and homes are. Every connection needs the password.
 */
const settings: Record<string, string | number> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 100,
  shared_buffers: "160MB",
  wal_compression: "pglz",
  max_wal_size: "1GB",
  checkpoint_timeout: "10min",
  random_page_cost: 1.1,
  jit: "off",
  // Thousands of predictions begin and end a second: their places are to be used again before they fill the memory.
  autovacuum_naptime: "15s",
  password_encryption: "scram-sha-256",
  scram_iterations: 1,
  // Errors of single statements are told to whoever sent them; the log is for what concerns the server.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
  log_line_prefix: "%m [%p] ",
  log_timezone: "UTC",
  timezone: "UTC",
};

/**
 * Starts the server and returns at once. It leads its own session, so that a Ctrl-C meant for us does not reach it, and
 * it does not keep our process alive.
 */
export async function spawnPostmaster(
  cluster: Cluster,
  port: number,
  extraSettings: Record<string, string | number> = {},
): Promise<ChildProcess> {
  const { account, dataDir, logFile } = cluster;
  const flags = Object.entries({ ...settings, ...extraSettings, port }).flatMap(([key, value]) => [
    "-c",
    `${key}=${value}`,
  ]);
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

/** Data that another account made (the machine allows something else now, or a volume moved) becomes this account's. */
export async function takeOwnership({ account, dataDir }: Cluster): Promise<void> {
  if (process.getuid?.() !== 0 || (await stat(dataDir)).uid === account.uid) return;
  for (const entry of await readdir(dataDir, { recursive: true }))
    await lchown(join(dataDir, entry), account.uid, account.uid);
  await chown(dataDir, account.uid, account.uid); // last: it says that the work is done
}

export interface PostmasterFile {
  pid: number;
  startedAt: number;
  port: number;
  status: string;
}

/** What a running server says about itself in its data directory; undefined when there is none, or it is half written. */
export async function readPostmasterFile(cluster: Pick<Cluster, "dataDir">): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster.dataDir, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.trim());
  const [pid, startedAt, port] = [Number(lines[0]), Number(lines[2]), Number(lines[3])];
  if (!pid || !startedAt || !port) return undefined;
  return { pid, startedAt, port, status: lines[7] ?? "" };
}
