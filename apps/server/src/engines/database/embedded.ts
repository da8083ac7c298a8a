import { randomBytes } from "node:crypto";
import { mkdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Account, chooseAccount } from "./account.ts";
import { findBinaries, versionOf } from "./binaries.ts";
import { type Cluster, clusterIn, exists, initCluster, readPostmasterFile, superuser } from "./cluster.ts";
import { type ConnectOptions, connect, connectOwn, type OwnDatabase } from "./connect.ts";
import type { Database, OpenedDatabase } from "./database.ts";
import { type HomeLock, lockHome } from "./home-lock.ts";
import { readRecord, recordAdvice, recordFileOf, refuseForeignHome, writeRecord } from "./home-owner.ts";
import { ensurePostmaster, stopPostmaster } from "./postmaster.ts";
import { connectionsWarning, named, outdatedWarning } from "./server-facts.rules.ts";
import { endedByFullDisk, logTail, mentionsFullDisk, reasonIn } from "./server-log.ts";
import { diskFullError, explainFullDisk } from "./unavailable.ts";
import { watchPostmaster } from "./watch.ts";

export interface EmbeddedOptions extends Pick<ConnectOptions, "poolSize" | "deadlineMs" | "applicationName"> {
  /** GANTRY_HOME. Created if missing. */
  home: string;
  /** GANTRY_POSTGRES_BIN: the folder of an installed PostgreSQL, used instead of the one from npm. */
  programs?: string | undefined;
  /** Receives the steps of the start, as sentences for people. */
  onProgress?: (text: string) => void;
  /** Receives a warning about an outdated PostgreSQL. */
  onWarning?: (text: string) => void;
  /** Receives a message when the server dies, and when it runs again. */
  onTrouble?: (text: string, error?: unknown) => void;
  /** Connections of all processes that use the server. */
  connections?: number | undefined;
  /** The server runs again, maybe on another port. */
  onRestart?: (port: number) => void;
  /** The server's log shows that its disk is full. */
  onFull?: () => void;
  /** Detected by default. */
  account?: Account["kind"];
}

export interface EmbeddedDatabase extends OpenedDatabase, Pick<HomeLock, "addHelper"> {
  /** Contains the password. */
  readonly url: string;
  /** Changes when the server restarts. */
  readonly pid: number;
}

/** Role and database of the service. Not the superuser, which could run programs on the machine. */
const role = "gantry";

/** Starts the PostgreSQL of a home, or takes over a running one, and restarts it until `close`. One process per home. */
export async function startEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  await mkdir(resolve(options.home), { recursive: true, mode: 0o700 });
  const home = await realpath(options.home);
  await refuseForeignHome(home);
  try {
    const lock = await lockHome(home);
    return await startLocked({ ...options, home }, lock).catch(async (error) => {
      await lock.release();
      throw error;
    });
  } catch (error) {
    throw explainFullDisk(home, error);
  }
}

async function startLocked(options: EmbeddedOptions, lock: HomeLock): Promise<EmbeddedDatabase> {
  const {
    home,
    programs,
    onProgress = () => undefined,
    onTrouble = () => undefined,
    onRestart = () => undefined,
    onFull = () => undefined,
    account,
    connections,
    onWarning,
    ...pool
  } = options;
  const known = await readRecord(home);
  const binaries = await findBinaries(programs);
  const cluster = clusterIn(await chooseAccount(binaries, home, onProgress, account), connections);
  const password = known?.password ?? randomBytes(32).toString("hex");
  if (!(await exists(cluster.dataDir))) {
    if (known && known.dataDir !== cluster.dataDir && (await exists(known.dataDir)))
      throw new Error(
        `The data of ${home} is in ${known.dataDir}, where this user cannot run PostgreSQL. ` +
          `Move it to ${cluster.dataDir}, or run Gantry as the user that created it.`,
      );
    onProgress(`Creating the database in ${cluster.dataDir}`);
    await initCluster(cluster, password, () => writeRecord(home, { password, dataDir: cluster.dataDir }));
  } else if (!known) {
    throw new Error(
      `${recordFileOf(home)} is missing. The file contains the password of the database in ${cluster.dataDir}. ${recordAdvice}`,
    );
  }
  await checkVersion(cluster);
  const version = await versionOf(binaries.postgres);
  const warning = version && outdatedWarning(version);
  if (warning !== undefined) onWarning?.(warning);

  const report = oncePerReason(onProgress);
  const before = await logTail(cluster);
  const postmaster = await ensurePostmaster(cluster, undefined, onProgress, (tail) => {
    // Retrying for a minute would not free disk space.
    if (tail !== before && endedByFullDisk(tail)) throw diskFullError(home, tail);
    report(tail);
  });
  let database: OwnDatabase | undefined;
  const watch = watchPostmaster(cluster, postmaster, {
    onTrouble,
    onRestart,
    onEnd: (tail) => {
      if (!mentionsFullDisk(tail)) return;
      database?.markFull();
      onFull();
    },
  });
  const port = (): number => watch.current.port;
  const address = (user: string, name: string): string => `postgres://${user}:${password}@127.0.0.1:${port()}/${name}`;
  const connected = connectOwn({ ...pool, url: address(role, role), port });
  database = connected;
  try {
    await ensureOwnDatabase(address(superuser, "postgres"), password);
    // With a nearly full disk the server starts, but refuses connections.
    const [facts] = await connected.sql<{ allowed: number }[]>`
      select current_setting('max_connections')::int as allowed`;
    const advice = "This PostgreSQL is from an earlier start. Stop Gantry and start it again to raise its limit.";
    const tooFew = connectionsWarning(facts?.allowed ?? 0, connections ?? 0, advice);
    if (tooFew !== undefined) onWarning?.(tooFew);
  } catch (error) {
    await connected.close();
    await watch.stop();
    if (!postmaster.adopted) await stopPostmaster(watch.current);
    throw error;
  }
  return {
    ...connected,
    addHelper: lock.addHelper,
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

/** The start is retried for a minute. Each reason is reported once. */
function oncePerReason(onProgress: (text: string) => void): (tail: string) => void {
  const reported = new Set<string>();
  return (tail) => {
    const reason = reasonIn(tail);
    if (!reported.has(reason)) onProgress(`PostgreSQL did not start. Retrying. ${tail}`);
    reported.add(reason);
  };
}

async function checkVersion({ dataDir }: Cluster): Promise<void> {
  const version = (await readFile(join(dataDir, "PG_VERSION"), "utf8")).trim();
  if (version !== String(named.major))
    throw new Error(
      `The data in ${dataDir} belongs to PostgreSQL ${version}, but this Gantry runs PostgreSQL ${named.major}. Run ` +
        "`gantry backup` with the release that wrote the data, then `gantry restore` with this one into an empty GANTRY_HOME.",
    );
}

/** Fails if the server has another password than the record. */
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

/** Application name of the operator's command. */
export const toolName = "gantry-tool";
/** A backup locks the key and the schema while it reads: three transactions at once. */
export const toolPoolSize = 3;

/** Connects the operator's command to the running PostgreSQL of a home. Undefined if it does not run. */
export async function attachEmbeddedDatabase(home: string): Promise<Database | undefined> {
  // Root may read any home, because nothing is created here.
  if (process.getuid?.() !== 0) await refuseForeignHome(home);
  const record = await readRecord(home);
  const server = record && (await readPostmasterFile(record));
  if (server?.status !== "ready" || !record) return undefined;
  const url = `postgres://gantry:${record.password}@127.0.0.1:${server.port}/gantry`;
  const database = connect({ url, poolSize: toolPoolSize, applicationName: toolName });
  // A killed server leaves its file behind.
  if (await database.ready()) return database;
  await database.close();
  return undefined;
}
