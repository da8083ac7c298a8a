import { createHash } from "node:crypto";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database, Sql } from "../../engines/database/database.ts";
import { createTarWriter, type TarWriter } from "../../kernel/tar.ts";
import {
  type BackupEnd,
  type BackupHead,
  type BackupSummary,
  formatVersion,
  type KeyFile,
  summaryOf,
} from "./backup.ts";
import { type Names, namesToTake } from "./own-names.rules.ts";
import { isDamaged } from "./restore-files.ts";
import {
  hasSchema,
  selectMigrations,
  selectNamesBeside,
  selectPartitions,
  selectSequences,
  selectTables,
} from "./schema-store.ts";
import { deadlineMs, readOneMoment, readRows, selectFileKeys, selectKnownKeys } from "./store.ts";

const bytesAtOnce = 4 * 1024 * 1024;
const keysAtOnce = 1000;

export interface BackupDeps {
  database: Database;
  blobs: BlobStore;
  keys: readonly KeyFile[];
  withBlobs: boolean;
  now: Date;
  /** All migrations of this version. */
  known: readonly { name: string; sql: string }[];
  /** Keeps migrations out during `work`. */
  whileSchemaStays<T>(work: () => Promise<T>): Promise<T>;
  write(bytes: Uint8Array): Promise<void>;
}

export interface WrittenBackup extends BackupSummary {
  /** Keys of files that are missing or damaged in the store, and therefore not in the backup. */
  missing: string[];
  /** Tables of other programs, which are not in the backup. */
  leftOut: string[];
}

type Schema = Pick<BackupHead, "migrations" | "tables">;
type WriteJson = (name: string, value: unknown) => Promise<void>;

/** Writes one archive while servers run. Tables are from one snapshot. Files follow; one that is deleted meanwhile is left out. */
export async function writeBackup(deps: BackupDeps): Promise<WrittenBackup> {
  const hash = createHash("sha256");
  const tar = createTarWriter(async (bytes) => {
    hash.update(bytes);
    await deps.write(bytes);
  });
  const json = (name: string, value: unknown) => tar.file(name, Buffer.from(JSON.stringify(value)));

  const tables = await deps.whileSchemaStays(() => writeTables(deps, tar, json));
  const { head, rows, sequences, fileKeys, leftOut } = tables;
  const onWritten = (key: string) => fileKeys.delete(key);
  const blobs = deps.withBlobs ? await writeBlobs(tar, json, deps.blobs, onWritten) : { blobs: 0, blob_bytes: 0 };
  const end: BackupEnd = { rows, sequences, ...blobs, sha256: hash.copy().digest("hex") };
  await json("end.json", end);
  await tar.end();
  const keys = deps.keys.map((key) => key.name);
  return { ...summaryOf(head, end, keys), missing: await findMissing(deps, [...fileKeys]), leftOut };
}

async function writeTables(deps: BackupDeps, tar: TarWriter, json: WriteJson) {
  if (!(await hasSchema(deps.database.sql))) throw holdsNothing();
  let copied: { schema: Schema; names: Names } | undefined;
  const transaction = deps.database.transaction(
    async (tx) => {
      await readOneMoment(tx);
      const migrations = await selectMigrations(tx);
      const { taken, leftOut } = namesToTake(await selectNamesBeside(tx), migrations, deps.known);
      const schema: Schema = { migrations, tables: await selectTables(tx, taken) };
      if (schema.tables.length === 0) throw holdsNothing();
      copied = { schema, names: taken };
      const head: BackupHead = {
        format: formatVersion,
        made_at: deps.now.toISOString(),
        bucket: deps.blobs.bucket,
        ...schema,
        partitions: await selectPartitions(tx, taken),
      };
      await json("backup.json", head);
      for (const key of deps.keys) await tar.file(`keys/${key.name}`, key.content);
      const rows: Record<string, number> = {};
      for (const table of head.tables) {
        let portion = 0;
        let count = 0;
        for await (const lines of readRows(tx, table, bytesAtOnce)) {
          await json(`tables/${table.name}/${++portion}.json`, lines);
          count += lines.length;
        }
        rows[table.name] = count;
      }
      // Last, because sequences may be ahead of the rows but not behind.
      const sequences = await selectSequences(tx, taken);
      const fileKeys = deps.withBlobs ? await selectFileKeys(tx) : new Set<string>();
      return { head, rows, sequences, fileKeys, leftOut };
    },
    { deadlineMs },
  );
  // Also after success: a table that was altered during the snapshot may look empty.
  await transaction.catch(() => undefined);
  if (copied) await refuseChangedSchema(deps.database.sql, copied.schema, copied.names);
  return transaction;
}

const holdsNothing = (): Error => new Error("This database does not contain Gantry tables");

/** Tables may be altered by hand during a backup. */
async function refuseChangedSchema(sql: Sql, before: Schema, names: Names): Promise<void> {
  const now: Schema = { migrations: await selectMigrations(sql), tables: await selectTables(sql, names) };
  if (JSON.stringify(now) === JSON.stringify(before)) return;
  throw new Error("The tables were altered during the backup, so it was discarded. Create it again.");
}

function unlessDamaged(error: unknown): undefined {
  if (!isDamaged(error)) throw error;
}

/** Files that were neither copied nor deleted meanwhile. */
async function findMissing({ database, blobs }: BackupDeps, notCopied: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (let at = 0; at < notCopied.length; at += keysAtOnce) {
    for (const key of await selectKnownKeys(database.sql, notCopied.slice(at, at + keysAtOnce))) {
      const found = await blobs.stat(key).catch(unlessDamaged);
      if (!found) missing.push(key);
    }
  }
  return missing.sort();
}

async function writeBlobs(
  tar: TarWriter,
  json: WriteJson,
  store: BlobStore,
  onWritten: (key: string) => void,
): Promise<Pick<BackupEnd, "blobs" | "blob_bytes">> {
  const written = { blobs: 0, blob_bytes: 0 };
  for await (const key of store.keys()) {
    const opened = await store.open(key).catch(unlessDamaged);
    if (!opened) continue;
    const { size, contentType } = opened.info;
    const name = `blobs/${++written.blobs}`;
    written.blob_bytes += size;
    try {
      await json(`${name}.json`, { key, content_type: contentType });
      await tar.stream(name, size, opened.body);
    } finally {
      opened.body.destroy();
    }
    onWritten(key);
  }
  return written;
}
