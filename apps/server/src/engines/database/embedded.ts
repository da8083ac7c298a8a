import { randomBytes } from "node:crypto";
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Account, chooseAccount } from "./account.ts";
import { findBinaries, versionOf } from "./binaries.ts";
import { type Cluster, clusterIn, exists, initCluster, readPostmasterFile, superuser } from "./cluster.ts";
import { type ConnectOptions, connect, connectOwn, type OwnDatabase } from "./connect.ts";
import type { Database, OpenedDatabase } from "./database.ts";
import { type HomeLock, lockHome } from "./home-lock.ts";
import { readRecord, recordFileOf, refuseHomeOfAnother, wayOut, writeRecord } from "./home-owner.ts";
import { ensurePostmaster, stopPostmaster } from "./postmaster.ts";
import { named, whyBehind } from "./server-facts.rules.ts";
import { endedForWantOfRoom, lastWords, reasonIn, tellsOfFullDisk } from "./server-log.ts";
import { noRoomIn, orNoRoomIn } from "./unavailable.ts";
import { watchPostmaster } from "./watch.ts";

export interface EmbeddedOptions extends Pick<ConnectOptions, "poolSize" | "deadlineMs" | "applicationName"> {
  /** GANTRY_HOME. Made when missing. */
  home: string;
  /** GANTRY_POSTGRES_BIN: the folder of a system's PostgreSQL, used instead of the one from npm. */
  programs?: string | undefined;
  /** Told what the start is doing, in sentences for people. */
  onProgress?: (text: string) => void;
  /** Told what is worth a warning: a PostgreSQL that lacks fixes. */
  onWarning?: (text: string) => void;
  /** Told when the server died, and when it is back. */
  onTrouble?: (text: string, error?: unknown) => void;
  /** Overrides how a root process runs the server; found out when not given. */
  account?: Account["kind"];
}

export interface EmbeddedDatabase extends OpenedDatabase {
  /** The address while this process runs, for tools. Holds the password. */
  readonly url: string;
  /** The server's process number, which changes when it is restarted. */
  readonly pid: number;
}

/** The service's own role and database. Not the superuser: what reaches the SQL must not reach the machine. */
const role = "gantry";

/** Starts, or takes over, the PostgreSQL of a home, and watches over it until `close`. One process a home. */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  await mkdir(resolve(options.home), { recursive: true, mode: 0o700 });
  const home = await realpath(options.home);
  await refuseHomeOfAnother(home);
  try {
    const lock = await lockHome(home);
    return await startLocked({ ...options, home }, lock).catch(async (error) => {
      await lock.release();
      throw error;
    });
  } catch (error) {
    throw orNoRoomIn(home, error);
  }
}

async function startLocked(options: EmbeddedOptions, lock: HomeLock): Promise<EmbeddedDatabase> {
  const {
    home,
    programs,
    onProgress = () => undefined,
    onTrouble = () => undefined,
    account,
    onWarning,
    ...pool
  } = options;
  const known = await readRecord(home);
  const binaries = await findBinaries(programs);
  const cluster = clusterIn(await chooseAccount(binaries, home, onProgress, account));
  const password = known?.password ?? randomBytes(32).toString("hex");
  if (!(await exists(cluster.dataDir))) {
    if (known && known.dataDir !== cluster.dataDir && (await exists(known.dataDir)))
      throw new Error(
        `The data of ${home} is in ${known.dataDir}, where PostgreSQL cannot be run any more as it was. ` +
          `Move it to ${cluster.dataDir}, or run Gantry as before.`,
      );
    onProgress(`Creating the database in ${cluster.dataDir}`);
    await initCluster(cluster, password, () => writeRecord(home, { password, dataDir: cluster.dataDir }));
  } else if (!known) {
    throw new Error(
      `${recordFileOf(home)} is lost: it holds the password of the database in ${cluster.dataDir}. ${wayOut}`,
    );
  }
  await checkVersion(cluster);
  const version = await versionOf(binaries.postgres);
  const behind = version && whyBehind(version);
  if (behind !== undefined) onWarning?.(behind);

  const tell = onceEach(onProgress);
  const saidBefore = await lastWords(cluster);
  const postmaster = await ensurePostmaster(cluster, undefined, onProgress, (words) => {
    // It would be tried for a minute, and room does not come by itself.
    if (words !== saidBefore && endedForWantOfRoom(words)) throw noRoomIn(home, words);
    tell(words);
  });
  let database: OwnDatabase | undefined;
  const watch = watchPostmaster(cluster, postmaster, {
    onTrouble,
    onEnd: (words) => {
      if (tellsOfFullDisk(words)) database?.foundFull();
    },
  });
  const port = (): number => watch.current.port;
  const address = (user: string, name: string): string => `postgres://${user}:${password}@127.0.0.1:${port()}/${name}`;
  const connected = connectOwn({ ...pool, url: address(role, role), port });
  database = connected;
  try {
    await ensureOwnDatabase(address(superuser, "postgres"), password);
    await connected.sql`select 1`; // a server with hardly any room starts, and then takes no connection
  } catch (error) {
    await connected.close();
    await watch.stop();
    if (!postmaster.adopted) await stopPostmaster(watch.current);
    throw error;
  }
  return {
    ...connected,
    get url() {
      return address(role, role);
    },
    get pid() {
      return watch.current.pid;
    },
    async close() {
      await connected.close();
      await watch.stop();
      await stopPostmaster(watch.current);
      await lock.release();
    },
  };
}

/** A start is tried for a minute: for whoever waits, why, once for each reason. */
function onceEach(onProgress: (text: string) => void): (words: string) => void {
  const told = new Set<string>();
  return (words) => {
    const reason = reasonIn(words);
    if (!told.has(reason)) onProgress(`PostgreSQL did not start, it is tried again. ${words}`);
    told.add(reason);
  };
}

async function checkVersion({ dataDir }: Cluster): Promise<void> {
  const version = (await readFile(join(dataDir, "PG_VERSION"), "utf8")).trim();
  if (version !== String(named.major))
    throw new Error(
      `The data in ${dataDir} belongs to PostgreSQL ${version}, and this Gantry runs PostgreSQL ${named.major}. Run ` +
        "`gantry backup` with the release that wrote the data, then `gantry restore` with this one into an empty GANTRY_HOME.",
    );
}

/** Also proves that the server is the one whose password we hold. */
async function ensureOwnDatabase(superuserUrl: string, password: string): Promise<void> {
  const admin = connect({ url: superuserUrl, poolSize: 1, deadlineMs: 30_000 });
  try {
    const [has] = await admin.sql<{ role: boolean; database: boolean }[]>`
      select exists (select from pg_roles where rolname = ${role}) as role,
             exists (select from pg_database where datname = ${role}) as database`;
    if (!has?.role) await admin.sql.unsafe(`create role ${role} login password '${password}'`);
    if (!has?.database) await admin.sql.unsafe(`create database ${role} owner ${role}`);
  } finally {
    await admin.close();
  }
}

/** What the server shows of the connections of an operator's tool. */
export const toolName = "gantry-tool";
/** A backup keeps the key and the schema as they are, while it reads: three transactions at once. */
export const toolPoolSize = 3;

/**
 * A second way into the embedded database of a home, for an operator's tool beside the server that owns it: connects,
 * and neither starts nor stops anything. Undefined when no PostgreSQL of that home runs.
 */
export async function attachEmbeddedDatabase(home: string): Promise<Database | undefined> {
  // Root reads beside any owner: nothing is made here.
  if (process.getuid?.() !== 0) await refuseHomeOfAnother(home);
  const record = await readRecord(home);
  const server = record && (await readPostmasterFile(record));
  if (server?.status !== "ready" || !record) return undefined;
  const url = `postgres://gantry:${record.password}@127.0.0.1:${server.port}/gantry`;
  const database = connect({ url, poolSize: toolPoolSize, applicationName: toolName });
  // The file of a server that was killed looks like that of one that runs.
  if (await database.ready()) return database;
  await database.close();
  return undefined;
}
