import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditReport } from "@gantry/wire";
import { openUnsignedBlobs } from "../compose/engines.ts";
import { migrationsDir, oldestToKnow, ownSchema } from "../compose/own-schema.ts";
import { keysToRestore, prepareKeys, readKeyFiles, settleRestore, settleRestores } from "../compose/restored-keys.ts";
import type { Config } from "../config/config.ts";
import type { BlobStore } from "../engines/blobs/blobs.ts";
import { toolName, toolPoolSize } from "../engines/database/embedded.ts";
import { connectExternalDatabase, type Database, migrate, type Transaction } from "../engines/database/index.ts";
import { readMigrations } from "../engines/database/migrate.ts";
import { whileSchemaStays } from "../engines/database/schema-lock.ts";
import { explainFullDisk } from "../engines/database/unavailable.ts";
import { createAesVault } from "../engines/vault/aes-vault.ts";
import { changeKey, lockKeys, settleKeyChange, whileKeyStays } from "../engines/vault/change-key.ts";
import { findSecretKey } from "../engines/vault/key-file.ts";
import { opensNothing, type Resealed } from "../engines/vault/reseal.ts";
import { recordByOperator, verifyAudit } from "../features/audit/index.ts";
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
import { type OperateOptions, openExisting, refuseWithoutHome, startOwn } from "./open-database.ts";

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

// Commands for operators: each opens the configured engines, does one thing and closes them.

/**
 * Writes a new file, or a dated file in a folder. The file gets its name once it is complete. With `isFolder` the target
 * must be an existing folder: a missing one may be a disk that is not mounted.
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
    // Unique: another backup may be writing to the same target.
    const unfinished = `${path}.${randomBytes(4).toString("hex")}.unfinished`;
    const file = await open(unfinished, "wx", 0o600).catch((error) =>
      Promise.reject(explainFullDisk(dirname(path), error)),
    );
    try {
      const append = async (bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      };
      const stays = <T>(work: () => Promise<T>) => whileSchemaStays(database, { report: options.say }, work);
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
      throw explainFullDisk(dirname(path), error);
    } finally {
      await file.close();
    }
  }
}

function sayLeftOut({ say }: OperateOptions, tables: readonly string[]): void {
  if (tables.length > 0) say(`Tables of other programs were skipped: ${tables.join(", ")}`);
}

async function backupPath({ target, isFolder }: { target: string; isFolder: boolean }, now: Date): Promise<string> {
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory()) return join(target, `gantry-${now.toISOString().slice(0, 19).replaceAll(":", "")}Z.tar`);
  const folder = isFolder ? target : dirname(target);
  const beside = isFolder ? found : await stat(folder).catch(() => undefined);
  if (!beside?.isDirectory()) throw new Error(`Folder ${folder} does not exist. Create it first.`);
  if (found) throw new Error(`${target} already exists`);
  return target;
}

/** Never replaces a file: an existing one is a complete backup. */
async function giveName(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
    await rm(unfinished);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new Error(`${path} already exists: another backup was written to it meanwhile`);
    // FAT and similar file systems do not support links.
    if (await stat(path).catch(() => undefined)) throw error;
    await rename(unfinished, path);
  }
}

/** A key from the environment is not copied: the operator keeps it. */
async function keysInUse({ GANTRY_HOME, GANTRY_SECRET_KEY }: Config): Promise<KeyFile[]> {
  const files = await readKeyFiles(GANTRY_HOME);
  return GANTRY_SECRET_KEY === undefined ? files : files.filter(({ name }) => name !== "secret-key");
}

/** Completes an interrupted key change first, as a server does at start. */
async function settleKeys(database: Database, config: Config): Promise<void> {
  const home = config.GANTRY_HOME;
  await settleRestores({ database, home });
  await settleKeyChange({ database, home, given: config.GANTRY_SECRET_KEY });
}

async function requireFile(source: string): Promise<void> {
  const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error(`File ${source} does not exist`) : error;
  });
  if (found.isDirectory()) throw new Error(`${source} is a folder. Name a backup file in it.`);
}

/** Whether the key here can decrypt the stored credentials. */
async function opensSealed(database: Database, { GANTRY_HOME, GANTRY_SECRET_KEY }: Config): Promise<boolean> {
  const key = await findSecretKey(GANTRY_HOME, GANTRY_SECRET_KEY);
  return key !== undefined && !(await database.transaction((tx) => opensNothing(tx, createAesVault(key))));
}

export async function restore(
  options: OperateOptions & { source: string; replace: boolean },
): Promise<RestoredBackup & { books: LedgerReport; opensSealed: boolean }> {
  const { config, say, source, replace } = options;
  await requireFile(source);
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
    // Fails early; checked again under the lock.
    await keysToReplace();
    const summary = await restoreBackup({
      database,
      blobs,
      archive,
      replace,
      now: new Date(),
      known: await readMigrations(migrationsDir),
      migrateTo: (names) => migrate(database, ownSchema, { only: new Set(names), mustKnow: oldestToKnow, report: say }),
      lock: lockKeys,
      prepareKeys: async (id) => prepareKeys(home, id, await keysToReplace()),
      settleKeys: (id) => settleRestore({ database, home }, id),
    });
    sayLeftOut(options, summary.leftOut);
    return { ...summary, books: await checkBooks(database), opensSealed: await opensSealed(database, config) };
  });
}

export interface Rekeyed {
  /** Credentials that were encrypted with the new key. */
  changed: number;
  /** Credentials that already used the new key. */
  already: number;
  unreadable: number;
  /** File of the key; undefined if the key is in the environment. */
  file: string | undefined;
  /** Servers that started meanwhile and may use the old key. */
  servers: number;
}

/** Long enough for a server that waited for the lock to join. */
const joinMs = 1_000;

/** Encrypts all credentials with another key. No server may run. */
export async function rekey(options: OperateOptions & { leaveUnreadable: boolean }): Promise<Rekeyed> {
  const { config, leaveUnreadable } = options;
  const { GANTRY_HOME: home, GANTRY_SECRET_KEY: given, GANTRY_NEW_SECRET_KEY: next } = config;
  const isAlone = config.DATABASE_URL === undefined;
  if (isAlone) await refuseWithoutHome(home);
  // Starting the database fails if a server uses this home.
  const database = isAlone ? await startOwn(options) : await openExisting(options);
  try {
    await settleRestores({ database, home });
    const refuseServers = async (tx: Transaction) => (isAlone ? undefined : refuseAlive(tx));
    const onChanged = async (tx: Transaction, resealed: Resealed) => {
      const after = { re_encrypted: resealed.changed, unreadable: unreadableIn(resealed) };
      await recordByOperator(tx, { action: "installation.rekey", object: { id: "secret-key" }, after });
    };
    const done = await changeKey({ database, home, given, next, refuseServers, onChanged, leaveUnreadable });
    if (!isAlone) await sleep(joinMs);
    return {
      changed: done.changed,
      already: done.already,
      unreadable: unreadableIn(done),
      file: given === undefined ? join(home, "secret-key") : undefined,
      servers: isAlone ? 0 : await countAlive(database.sql),
    };
  } finally {
    await database.close();
  }
}

const unreadableIn = ({ unreadable }: Resealed): number =>
  [...unreadable.values()].reduce((sum, rows) => sum + rows, 0);

export function verifyBooks(options: OperateOptions): Promise<LedgerReport> {
  return checking(options, "ledger", checkBooks);
}

/** `head`: a hash that must be in the chain. */
export function verifyAuditLog(options: OperateOptions & { head: string | undefined }): Promise<AuditReport> {
  return checking(options, "audit_chain", (database) => verifyAudit(database, options.head));
}

async function checking<T>(options: OperateOptions, table: string, check: (database: Database) => Promise<T>) {
  const database = await openExisting(options);
  try {
    const [schema] = await database.sql<{ there: boolean }[]>`select to_regclass(${table}) is not null as there`;
    if (!schema?.there) throw new Error("This database does not contain Gantry tables");
    return await check(database);
  } finally {
    await database.close();
  }
}
