import { createReadStream } from "node:fs";
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "./config.ts";
import type { BlobStore } from "./engines/blobs/blobs.ts";
import { attachEmbeddedDatabase } from "./engines/database/attach.ts";
import { connectExternalDatabase, type Database, migrate, startEmbeddedDatabase } from "./engines/database/index.ts";
import { readMigrations } from "./engines/database/migrate.ts";
import { changeKey, countLiveServers, settleKeyChange, whileKeyStays } from "./engines/vault/change-key.ts";
import { type BackupSummary, type KeyFile, restoreBackup, writeBackup } from "./features/backup/index.ts";
import { checkBooks, type LedgerReport } from "./features/billing/index.ts";
import { openOwnBlobs, openS3 } from "./open-engines.ts";

/**
 * What an operator does to an installation from outside its servers. Opens the engines that the settings name, does one
 * thing, closes them. Part of composing, like compose.ts, without the HTTP side.
 */
export interface OperateOptions {
  config: Config;
  /** For people. */
  say(text: string): void;
}

const migrationsDir = fileURLToPath(new URL("../migrations", import.meta.url));
const keyFiles = ["secret-key", "link-signing-key.json"] as const;

/** For reading, also beside a running server; an embedded database that does not run is started for the time. */
async function openExisting({ config, say }: OperateOptions): Promise<Database> {
  if (config.DATABASE_URL !== undefined) return connectExternalDatabase({ url: config.DATABASE_URL, poolSize: 2 });
  const home = config.GANTRY_HOME;
  await refuseWithoutHome(home);
  return (await attachEmbeddedDatabase(home)) ?? startEmbeddedDatabase({ home, onProgress: say });
}

async function refuseWithoutHome(home: string): Promise<void> {
  const made = await stat(join(home, "postgres.json")).then(
    () => true,
    () => false,
  );
  if (!made) throw new Error(`There is no Gantry in ${home}: set GANTRY_HOME or DATABASE_URL`);
}

function openBlobs(config: Config): Promise<BlobStore> {
  return config.S3_ENDPOINT === undefined ? openOwnBlobs(config.GANTRY_HOME) : openS3(config);
}

async function withEngines<T>(
  database: Database,
  config: Config,
  work: (engines: { database: Database; blobs: BlobStore }) => Promise<T>,
): Promise<T> {
  try {
    const blobs = await openBlobs(config);
    try {
      return await work({ database, blobs });
    } finally {
      await blobs.close();
    }
  } finally {
    await database.close();
  }
}

/** Into a new file, or into a folder under a name with the date. The file has its name only once it is whole. */
export async function backUp(
  options: OperateOptions & { target: string; withBlobs: boolean; withKeys: boolean },
): Promise<BackupSummary & { path: string }> {
  const { config, withBlobs, withKeys } = options;
  const now = new Date();
  const path = await backupPath(options.target, now);
  const database = await openExisting(options);
  return withEngines(database, config, async (engines) => {
    await settleKeyChange({ database, home: config.GANTRY_HOME, given: config.GANTRY_SECRET_KEY });
    return whileKeyStays(database, () => write(engines));
  });

  async function write(engines: { database: Database; blobs: BlobStore }): Promise<BackupSummary & { path: string }> {
    const keys = withKeys ? await readKeyFiles(config) : [];
    const unfinished = `${path}.unfinished`;
    const file = await open(unfinished, "w", 0o600);
    try {
      const append = async (bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      };
      const summary = await writeBackup({ ...engines, keys, withBlobs, now, write: append });
      await file.sync();
      await rename(unfinished, path);
      return { ...summary, path };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }
}

async function backupPath(target: string, now: Date): Promise<string> {
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory()) return join(target, `gantry-${now.toISOString().slice(0, 19).replaceAll(":", "")}Z.tar`);
  if (found) throw new Error(`${target} is there already`);
  return target;
}

async function readKeyFiles(config: Config): Promise<KeyFile[]> {
  const files: KeyFile[] = [];
  for (const name of keyFiles) {
    const content = await readFile(join(config.GANTRY_HOME, name)).catch(() => undefined);
    if (content && !(name === "secret-key" && config.GANTRY_SECRET_KEY !== undefined)) files.push({ name, content });
  }
  return files;
}

export async function restore(
  options: OperateOptions & { source: string; replace: boolean },
): Promise<BackupSummary & { books: LedgerReport }> {
  const { config, say, source, replace } = options;
  await stat(source);
  const home = config.GANTRY_HOME;
  await mkdir(home, { recursive: true, mode: 0o700 });
  const database =
    config.DATABASE_URL === undefined
      ? await startEmbeddedDatabase({ home, onProgress: say })
      : await connectExternalDatabase({ url: config.DATABASE_URL, poolSize: 2 });
  // Before the store makes a key of its own for links.
  const keysThere = await keysOf(home);
  return withEngines(database, config, async ({ blobs }) => {
    const known = await readMigrations(migrationsDir);
    const summary = await restoreBackup({
      database,
      blobs,
      replace,
      known,
      open: () => createReadStream(source, { highWaterMark: 1024 * 1024 }),
      migrateTo: (names) => migrate(database, migrationsDir, new Set(names)),
      keepKey: (key) => keepKey(config, key, keysThere, replace),
    });
    return { ...summary, books: await checkBooks(database) };
  });
}

async function keysOf(home: string): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const name of keyFiles) {
    const content = await readFile(join(home, name)).catch(() => undefined);
    if (content) found.set(name, content);
  }
  return found;
}

async function keepKey(
  { GANTRY_HOME, GANTRY_SECRET_KEY }: Config,
  { name, content }: KeyFile,
  there: ReadonlyMap<string, Buffer>,
  replace: boolean,
): Promise<void> {
  const known = keyFiles.find((one) => one === name);
  if (!known) throw new Error(`The backup holds a key file that is not known: ${name}`);
  const present =
    known === "secret-key" && GANTRY_SECRET_KEY !== undefined ? Buffer.from(GANTRY_SECRET_KEY) : there.get(known);
  const [wanted, has] = [content, present].map((bytes) => bytes && Buffer.from(bytes).toString().trim());
  if (has === wanted) return;
  if (known === "secret-key" && GANTRY_SECRET_KEY !== undefined) {
    throw new Error("GANTRY_SECRET_KEY is another key than the one that sealed the credentials in the backup");
  }
  const path = join(GANTRY_HOME, known);
  if (has !== undefined && !replace)
    throw new Error(`${path} is another key than the backup's: say --replace to lose it`);
  await writeFile(path, content, { mode: 0o600, flush: true });
  await chmod(path, 0o600);
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
  const { config, say, leaveUnreadable } = options;
  const { GANTRY_HOME: home, GANTRY_SECRET_KEY: given, GANTRY_NEW_SECRET_KEY: next } = config;
  const isAlone = config.DATABASE_URL === undefined;
  if (isAlone) await refuseWithoutHome(home);
  // Not beside a server: this one claims the home for itself, or says who has it.
  const database = isAlone ? await startEmbeddedDatabase({ home, onProgress: say }) : await openExisting(options);
  try {
    const done = await changeKey({ database, home, given, next, isAlone, leaveUnreadable });
    if (!isAlone) await new Promise((resolve) => setTimeout(resolve, showThemselvesMs));
    return {
      changed: done.changed,
      already: done.already,
      unreadable: [...done.unreadable.values()].reduce((sum, rows) => sum + rows, 0),
      file: given === undefined ? join(home, "secret-key") : undefined,
      servers: isAlone ? 0 : await countLiveServers(database.sql),
    };
  } finally {
    await database.close();
  }
}

/** Proves that the books of the installation are right, or says where they are not. */
export async function verifyBooks(options: OperateOptions): Promise<LedgerReport> {
  const database = await openExisting(options);
  try {
    const [schema] = await database.sql<{ there: boolean }[]>`select to_regclass('public.ledger') is not null as there`;
    if (!schema?.there) throw new Error("This database holds no Gantry");
    return await checkBooks(database);
  } finally {
    await database.close();
  }
}
