import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openUnsignedBlobs } from "../compose/engines.ts";
import { migrationsDir, oldestToKnow, ownSchema } from "../compose/own-schema.ts";
import type { Config } from "../config/config.ts";
import type { BlobStore } from "../engines/blobs/blobs.ts";
import { attachEmbeddedDatabase, toolName, toolPoolSize } from "../engines/database/attach.ts";
import { orNoRoomIn } from "../engines/database/full-disk.ts";
import { refuseHomeOfAnother } from "../engines/database/home-owner.ts";
import {
  connectExternalDatabase,
  type Database,
  migrate,
  startEmbeddedDatabase,
  type Transaction,
} from "../engines/database/index.ts";
import { readMigrations } from "../engines/database/migrate.ts";
import { whileSchemaStays } from "../engines/database/schema-lock.ts";
import { createAesVault } from "../engines/vault/aes-vault.ts";
import { changeKey, lockKeys, settleKeyChange, whileKeyStays } from "../engines/vault/change-key.ts";
import { findSecretKey } from "../engines/vault/key-file.ts";
import { opensNothing } from "../engines/vault/reseal.ts";
import {
  checkArchive,
  type KeyFile,
  type RestoredBackup,
  restoreBackup,
  type WrittenBackup,
  writeBackup,
} from "../features/backup/index.ts";
import { checkBooks, type LedgerReport } from "../features/billing/index.ts";
import { countAlive, refuseAlive } from "../features/nodes/index.ts";
import { keysToRestore, prepareKeys, readKeyFiles, settleRestore, settleRestores } from "./restored-keys.ts";

/**
 * What an operator does to an installation from outside its servers. Opens the engines that the settings name, does one
 * thing, closes them. Part of composing, like compose.ts, without the HTTP side.
 */
export interface OperateOptions {
  config: Config;
  /** For people. */
  say(text: string): void;
}

/** For reading, also beside a running server; an embedded database that does not run is started for the time. */
async function openExisting({ config, say }: OperateOptions): Promise<Database> {
  if (config.DATABASE_URL !== undefined) {
    return connectExternalDatabase({ url: config.DATABASE_URL, poolSize: toolPoolSize, applicationName: toolName });
  }
  const home = config.GANTRY_HOME;
  await refuseWithoutHome(home);
  return (await attachEmbeddedDatabase(home)) ?? startOwn({ config, say });
}

function startOwn({ config, say }: OperateOptions): Promise<Database> {
  return startEmbeddedDatabase({
    home: config.GANTRY_HOME,
    programs: config.GANTRY_POSTGRES_BIN,
    onProgress: say,
    onWarning: say,
  });
}

async function refuseWithoutHome(home: string): Promise<void> {
  try {
    await stat(join(home, "postgres.json"));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) {
      throw new Error(`There is no Gantry in ${home}: set GANTRY_HOME or DATABASE_URL`);
    }
    // One that is closed to us may well be there.
    await refuseHomeOfAnother(home);
    throw error;
  }
}

async function withEngines<T>(
  database: Database,
  config: Config,
  work: (engines: { database: Database; blobs: BlobStore }) => Promise<T>,
): Promise<T> {
  try {
    const blobs = await openUnsignedBlobs(config);
    try {
      return await work({ database, blobs });
    } finally {
      await blobs.close();
    }
  } finally {
    await database.close();
  }
}

/**
 * Into a new file, or into a folder under a name with the date. The file has its name only once it is whole. `isFolder`:
 * the target must be a folder; one that is not there is not made, since it may be a disk that is not mounted.
 */
export async function backUp(
  options: OperateOptions & { target: string; isFolder: boolean; withBlobs: boolean; withKeys: boolean },
): Promise<WrittenBackup & { path: string }> {
  const { config, withBlobs, withKeys } = options;
  const now = new Date();
  const path = await backupPath(options, now);
  const database = await openExisting(options);
  return withEngines(database, config, async (engines) => {
    await settleKeys(database, config);
    return whileKeyStays(database, () => write(engines));
  });

  async function write(engines: { database: Database; blobs: BlobStore }): Promise<WrittenBackup & { path: string }> {
    const keys = withKeys ? await keysInUse(config) : [];
    // A name of its own: another one may be on its way to the same place.
    const unfinished = `${path}.${randomBytes(4).toString("hex")}.unfinished`;
    const file = await open(unfinished, "wx", 0o600).catch((error) => Promise.reject(orNoRoomIn(dirname(path), error)));
    try {
      const append = async (bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      };
      const stays = <T>(work: () => Promise<T>) => whileSchemaStays(database, { tell: options.say }, work);
      const summary = await writeBackup({
        ...engines,
        keys,
        withBlobs,
        now,
        known: await readMigrations(migrationsDir),
        whileSchemaStays: stays,
        write: append,
      });
      sayLeftOut(options, summary.leftOut);
      await file.sync();
      await giveName(unfinished, path);
      return { ...summary, path };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw orNoRoomIn(dirname(path), error);
    } finally {
      await file.close();
    }
  }
}

function sayLeftOut({ say }: OperateOptions, tables: readonly string[]): void {
  if (tables.length > 0) say(`Tables of other programs were left out: ${tables.join(", ")}`);
}

async function backupPath({ target, isFolder }: { target: string; isFolder: boolean }, now: Date): Promise<string> {
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory()) return join(target, `gantry-${now.toISOString().slice(0, 19).replaceAll(":", "")}Z.tar`);
  const folder = isFolder ? target : dirname(target);
  const beside = isFolder ? found : await stat(folder).catch(() => undefined);
  if (!beside?.isDirectory()) throw new Error(`There is no folder ${folder}: make it first`);
  if (found) throw new Error(`${target} is there already`);
  return target;
}

/** Replaces nothing: what has the name by now was whole before this one. */
async function giveName(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
    await rm(unfinished);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new Error(`${path} is there already: another backup was written to it meanwhile`);
    // Some file systems, as those of memory sticks, know no links.
    if (await stat(path).catch(() => undefined)) throw error;
    await rename(unfinished, path);
  }
}

/** The key of the environment is the operator's to keep. */
async function keysInUse({ GANTRY_HOME, GANTRY_SECRET_KEY }: Config): Promise<KeyFile[]> {
  const files = await readKeyFiles(GANTRY_HOME);
  return GANTRY_SECRET_KEY === undefined ? files : files.filter(({ name }) => name !== "secret-key");
}

/** What was cut off on its way to another key is ended first, as a server does when it starts. */
async function settleKeys(database: Database, config: Config): Promise<void> {
  const home = config.GANTRY_HOME;
  await settleRestores({ database, home });
  await settleKeyChange({ database, home, given: config.GANTRY_SECRET_KEY });
}

async function refuseWhatIsNoFile(source: string): Promise<void> {
  const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error(`There is no file ${source}`) : error;
  });
  if (found.isDirectory()) throw new Error(`${source} is a folder: name one backup in it`);
}

/** Whether there is a key here, and it is not another one than what is stored was sealed with. */
async function opensSealed(database: Database, { GANTRY_HOME, GANTRY_SECRET_KEY }: Config): Promise<boolean> {
  const key = await findSecretKey(GANTRY_HOME, GANTRY_SECRET_KEY);
  return key !== undefined && !(await database.transaction((tx) => opensNothing(tx, createAesVault(key))));
}

export async function restore(
  options: OperateOptions & { source: string; replace: boolean },
): Promise<RestoredBackup & { books: LedgerReport; opensSealed: boolean }> {
  const { config, say, source, replace } = options;
  // Before anything is made or opened.
  await refuseWhatIsNoFile(source);
  const archive = await checkArchive(() => createReadStream(source, { highWaterMark: 1024 * 1024 }));
  const home = config.GANTRY_HOME;
  await mkdir(home, { recursive: true, mode: 0o700 });
  const database =
    config.DATABASE_URL === undefined
      ? await startOwn({ config, say })
      : await connectExternalDatabase({
          url: config.DATABASE_URL,
          poolSize: toolPoolSize,
          applicationName: toolName,
        });
  return withEngines(database, config, async ({ blobs }) => {
    await settleKeys(database, config);
    const keysToReplace = () => keysToRestore(config, archive.keys, replace);
    // Refused before anything is touched; which ones it is, is asked again when nobody else can change them.
    await keysToReplace();
    const summary = await restoreBackup({
      database,
      blobs,
      archive,
      replace,
      now: new Date(),
      known: await readMigrations(migrationsDir),
      migrateTo: (names) => migrate(database, ownSchema, { only: new Set(names), mustKnow: oldestToKnow, tell: say }),
      lock: lockKeys,
      prepareKeys: async (id) => prepareKeys(home, id, await keysToReplace()),
      settleKeys: (id) => settleRestore({ database, home }, id),
    });
    sayLeftOut(options, summary.leftOut);
    return { ...summary, books: await checkBooks(database), opensSealed: await opensSealed(database, config) };
  });
}

export interface Rekeyed {
  /** Texts that were sealed anew. */
  changed: number;
  /** Texts that were sealed with the new key before. */
  already: number;
  unreadable: number;
  /** Where the key is kept; undefined: in the environment, which the operator changes. */
  file: string | undefined;
  /** Servers that started meanwhile, and may have the key of before. */
  servers: number;
}

/** Long enough for a server that waited for us to show itself. */
const showThemselvesMs = 1_000;

/** Seals everything anew under another key. No server may run. */
export async function rekey(options: OperateOptions & { leaveUnreadable: boolean }): Promise<Rekeyed> {
  const { config, leaveUnreadable } = options;
  const { GANTRY_HOME: home, GANTRY_SECRET_KEY: given, GANTRY_NEW_SECRET_KEY: next } = config;
  const isAlone = config.DATABASE_URL === undefined;
  if (isAlone) await refuseWithoutHome(home);
  // Not beside a server: this one claims the home for itself, or says who has it.
  const database = isAlone ? await startOwn(options) : await openExisting(options);
  try {
    await settleRestores({ database, home });
    const refuseServers = async (tx: Transaction) => (isAlone ? undefined : refuseAlive(tx));
    const done = await changeKey({ database, home, given, next, refuseServers, leaveUnreadable });
    if (!isAlone) await new Promise((resolve) => setTimeout(resolve, showThemselvesMs));
    return {
      changed: done.changed,
      already: done.already,
      unreadable: [...done.unreadable.values()].reduce((sum, rows) => sum + rows, 0),
      file: given === undefined ? join(home, "secret-key") : undefined,
      servers: isAlone ? 0 : await countAlive(database.sql),
    };
  } finally {
    await database.close();
  }
}

/** Proves that the books of the installation are right, or says where they are not. */
export async function verifyBooks(options: OperateOptions): Promise<LedgerReport> {
  const database = await openExisting(options);
  try {
    const [schema] = await database.sql<{ there: boolean }[]>`select to_regclass('ledger') is not null as there`;
    if (!schema?.there) throw new Error("This database holds no Gantry");
    return await checkBooks(database);
  } finally {
    await database.close();
  }
}
