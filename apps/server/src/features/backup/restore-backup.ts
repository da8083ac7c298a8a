import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { readTar } from "../../kernel/tar.ts";
import { recordByOperator } from "../audit/index.ts";
import { countAlive, forgetAllNodes } from "../nodes/index.ts";
import { forgetDueTimes } from "../schedules/index.ts";
import { type BackupEnd, type BackupHead, type BackupSummary, summaryOf } from "./backup.ts";
import { type Archive, contentOf } from "./check-archive.ts";
import { insertNumbered } from "./insert-numbered.ts";
import { type Names, namesMadeBy, ownPart } from "./own-names.rules.ts";
import { type FileRestore, type LostFiles, restoreFiles } from "./restore-files.ts";
import {
  createPartition,
  emptyTables,
  hasSchema,
  selectMigrations,
  selectSequences,
  selectTables,
  selectWritableColumns,
  setSequence,
  suspendRules,
} from "./schema-store.ts";
import {
  analyze,
  countRows,
  deadlineMs,
  hasUsers,
  markRestore,
  selectPossibleKeys,
  selectPossiblyKnownKeys,
  stayOpen,
} from "./store.ts";

export interface RestoreDeps {
  database: Database;
  blobs: BlobStore;
  archive: Archive;
  /** Delete the data of the database. Without it the database must be empty. */
  replace: boolean;
  now: Date;
  /** All migrations of this version. */
  known: readonly { name: string; hash: string; sql: string }[];
  /** Applies exactly these migrations. */
  migrateTo(names: readonly string[]): Promise<unknown>;
  /** Keeps out readers that need consistent rows, files and keys, until the transaction ends. */
  lock(tx: Transaction): Promise<void>;
  /** Stores the archive's keys next to those in use, under this id. Called last in the transaction. */
  prepareKeys(restoreId: string): Promise<void>;
  /** Activates the prepared keys if the restore was committed, else removes them. Called after the transaction or at the next start. */
  settleKeys(restoreId: string): Promise<"took place" | "did not">;
}

export interface RestoredBackup extends BackupSummary, LostFiles {
  /** Tables of other programs in the archive, which were not restored. */
  leftOut: string[];
}

/** The archive without tables of other programs. */
interface OwnRestore extends RestoreDeps {
  own: Names;
}

/**
 * Restores a database and a file store from an archive, completely or not at all.
 *
 *     schema of the backup ──► rows, sequences, new files, prepared keys: one transaction
 *                              │
 *                              ├─ committed ───► activate keys ──► replace files ──► current schema
 *                              │                   ──► remove files that only the replaced rows refer to
 *                              └─ failed ──────► remove new files and prepared keys
 */
export async function restoreBackup(given: RestoreDeps): Promise<RestoredBackup> {
  refuseUnknown(given.archive.head, given.known);
  const own = namesMadeBy(given.known);
  const { ours: archive, leftOut } = ownPart(given.archive, own);
  const deps: OwnRestore = { ...given, archive, own };
  const { database } = deps;
  const { head, end, keys } = archive;
  await refuseInUse(deps);
  await deps.migrateTo(head.migrations.map(({ name }) => name));
  await refuseOtherSchema(database, head, own);

  const id = newRestoreId(deps.now);
  const restored = { id, isRecorded: false };
  const files = restoreFiles(deps.blobs, archive);
  try {
    await database.transaction((tx) => fill(deps, tx, files, restored), { deadlineMs });
    await deps.settleKeys(id);
  } catch (error) {
    await afterFailure(deps, files, id, error);
  }
  await files.finish().catch((error) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Rows and keys were restored, but not every file that differs: ${reason}. Run the restore again with --replace.`,
      { cause: error },
    );
  });
  await deps.migrateTo(deps.known.map(({ name }) => name));
  // The schema of an older backup had to be upgraded first.
  if (!restored.isRecorded) await database.transaction((tx) => recordRestore(deps, tx, id));
  await database.transaction((tx) => analyze(tx), { deadlineMs });
  const lost = await files.removeLost((some) => selectPossiblyKnownKeys(database.sql, some));
  const names = keys.map(({ name }) => name);
  return { ...summaryOf(head, end, names), ...lost, leftOut };
}

/** Sorts by time and is a valid file name. */
function newRestoreId(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z-${randomBytes(4).toString("hex")}`;
}

/** Returns if only the answer to the commit was lost. */
async function afterFailure(deps: RestoreDeps, files: FileRestore, id: string, error: unknown): Promise<void> {
  const settled = await deps.settleKeys(id).catch(() => undefined);
  if (settled === "took place") return;
  if (settled === "did not") {
    await files.undo();
    throw error;
  }
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(
    `${reason} Whether the restore took place is found out at the next start or restore: leave GANTRY_HOME as it is.`,
    { cause: error },
  );
}

/** `isRecorded`: the record is part of the transaction. */
async function fill(
  deps: OwnRestore,
  tx: Transaction,
  files: FileRestore,
  restored: { id: string; isRecorded: boolean },
): Promise<void> {
  const { archive, own } = deps;
  const { head, end } = archive;
  await stayOpen(tx);
  await deps.lock(tx);
  if (deps.replace) files.expectLoss(await selectPossibleKeys(tx));
  const resumeRules = await suspendRules(tx, own);
  await emptyTables(
    tx,
    head.tables.map(({ name }) => name),
  );
  for (const partition of head.partitions) await createPartition(tx, partition);
  await load(deps, tx, files);
  const sequences = new Set((await selectSequences(tx, own)).map(({ name }) => name));
  for (const sequence of end.sequences) if (sequences.has(sequence.name)) await setSequence(tx, sequence);
  await resumeRules();
  await refuseMissingRows(tx, end);
  // Nodes from the time of the backup do not run on this database.
  await forgetAllNodes(tx);
  if (head.tables.some(({ name }) => name === "schedules")) await forgetDueTimes(tx);
  restored.isRecorded = await recordRestore(deps, tx, restored.id);
  await markRestore(tx, restored.id);
  await deps.prepareKeys(restored.id);
}

function recordRestore({ archive, replace }: OwnRestore, tx: Transaction, id: string): Promise<boolean> {
  const after = { backup_of: archive.head.made_at, replaced: replace };
  return recordByOperator(tx, { action: "installation.restore", object: { id }, after });
}

async function load({ archive, blobs, own }: OwnRestore, tx: Transaction, files: FileRestore): Promise<void> {
  const { head } = archive;
  const columnsOf = new Map<string, string[]>();
  for (const { name } of head.tables) columnsOf.set(name, await selectWritableColumns(tx, name));
  // Addresses of files contain the bucket, which may differ here.
  const [before, after] = [head.bucket, blobs.bucket].map((bucket) => `s3://${bucket}/`);
  // Audit records stay as they were written: their hashes cover every byte.
  const moved = (line: string, table: string) =>
    before === after || table === "audit_records" ? line : line.replaceAll(String(before), String(after));

  const loaded = new Map<string, number>();
  for await (const entry of readTar(archive.open())) {
    const [kind, table = "", portion] = entry.name.split("/");
    if (kind === "blobs") await files.take(entry);
    if (kind !== "tables") continue;
    const columns = columnsOf.get(table);
    if (!columns && !own.tables.includes(table)) continue;
    if (!columns || portion === undefined)
      throw new Error(`The backup contains rows of an unknown table: ${entry.name}`);
    const lines = JSON.parse(await contentOf(entry.body)) as string[];
    const before = loaded.get(table) ?? 0;
    await insertNumbered(
      tx,
      { name: table, columns },
      lines.map((line) => moved(line, table)),
      before,
    );
    loaded.set(table, before + lines.length);
  }
}

function refuseUnknown(head: BackupHead, known: RestoreDeps["known"]): void {
  const [first] = known;
  if (first && !head.migrations.some(({ name }) => name === first.name))
    throw new Error(
      `The backup was made by a Gantry from before the migration ${first.name}, which this one cannot read. Restore it ` +
        "with that Gantry into a new database, stop that Gantry, and start this one on the database.",
    );
  const hashes = new Map(known.map(({ name, hash }) => [name, hash]));
  const unknown = head.migrations.filter(({ name, hash }) => hashes.get(name) !== hash);
  if (unknown.length === 0) return;
  const names = unknown.map(({ name }) => name).join(", ");
  throw new Error(`The backup was made by a newer or modified Gantry. Unknown migrations: ${names}`);
}

async function refuseInUse({ database, replace, own }: OwnRestore): Promise<void> {
  if (!(await hasSchema(database.sql))) return;
  const tables = (await selectTables(database.sql, own)).map(({ name }) => name);
  if (tables.includes("nodes") && (await countAlive(database.sql)) > 0) {
    throw new Error("A server is running on this database. Stop it first.");
  }
  if (!replace && tables.includes("users") && (await hasUsers(database.sql))) {
    throw new Error("This database is not empty. Restore into a new one, or use --replace to delete its data.");
  }
}

async function refuseOtherSchema({ sql }: Database, head: BackupHead, own: Names): Promise<void> {
  const here = { migrations: await selectMigrations(sql), tables: await selectTables(sql, own) };
  const same = JSON.stringify(here) === JSON.stringify({ migrations: head.migrations, tables: head.tables });
  if (same) return;
  throw new Error("The database is ahead of the backup. Restore into a new, empty one.");
}

async function refuseMissingRows(tx: Transaction, end: BackupEnd): Promise<void> {
  for (const [table, expected] of Object.entries(end.rows)) {
    const found = await countRows(tx, table);
    if (found !== expected) throw new Error(`The table ${table} has ${found} rows instead of ${expected}`);
  }
}
