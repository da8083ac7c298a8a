import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { countAlive, forgetAllNodes } from "../nodes/index.ts";
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
import { readTar } from "./tar.ts";

export interface RestoreDeps {
  database: Database;
  blobs: BlobStore;
  archive: Archive;
  /** Throw away what the database holds. Without it only an empty one is filled. */
  replace: boolean;
  now: Date;
  /** Every migration that this program knows. */
  known: readonly { name: string; hash: string; sql: string }[];
  /** Brings the database to the migrations of these names and no further. */
  migrateTo(names: readonly string[]): Promise<unknown>;
  /** Held until the transaction ends, against whoever needs rows, files and keys that belong together. */
  lock(tx: Transaction): Promise<void>;
  /** Puts the archive's keys beside those in use, under this id. Called inside the transaction, when all else is done. */
  prepareKeys(restoreId: string): Promise<void>;
  /**
   * Finds out whether the restore of that id took place, and puts the prepared keys into their places, or removes them.
   * Called when the transaction is over, however it ended, and at the next start should this process not live so long.
   */
  settleKeys(restoreId: string): Promise<"took place" | "did not">;
}

export interface RestoredBackup extends BackupSummary, LostFiles {
  /** Tables of other programs that the archive holds, and that were not restored. */
  leftOut: string[];
}

/** The archive has what is ours of its tables and no others. */
interface OwnRestore extends RestoreDeps {
  own: Names;
}

/**
 * Fills a database and a file store from an archive: all of it or nothing.
 *
 *     schema of its time ──► rows, sequences, new files, keys beside: one transaction
 *                              │
 *                              ├─ took place ──► keys in their places ──► replaced files ──► schema of today
 *                              │                   ──► files that only the replaced rows knew are removed
 *                              └─ did not ─────► new files and keys beside are removed
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
  const files = restoreFiles(deps.blobs, archive);
  try {
    await database.transaction((tx) => fill(deps, tx, files, id), { deadlineMs });
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
  await database.transaction((tx) => analyze(tx), { deadlineMs });
  const lost = await files.removeLost((some) => selectPossiblyKnownKeys(database.sql, some));
  const names = keys.map(({ name }) => name);
  return { ...summaryOf(head, end, names), ...lost, leftOut };
}

/** Sorts by time, and is a name that any file system takes. */
function newRestoreId(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z-${randomBytes(4).toString("hex")}`;
}

/** Returns when the commit was only not answered. */
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

async function fill(deps: OwnRestore, tx: Transaction, files: FileRestore, id: string): Promise<void> {
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
  // Nodes that ran when the backup was made run elsewhere, if at all.
  await forgetAllNodes(tx);
  await markRestore(tx, id);
  await deps.prepareKeys(id);
}

async function load({ archive, blobs, own }: OwnRestore, tx: Transaction, files: FileRestore): Promise<void> {
  const { head } = archive;
  const columnsOf = new Map<string, string[]>();
  for (const { name } of head.tables) columnsOf.set(name, await selectWritableColumns(tx, name));
  // The addresses of files name the bucket they lie in, and that may be another one here.
  const [before, after] = [head.bucket, blobs.bucket].map((bucket) => `s3://${bucket}/`);
  const moved = (line: string) => (before === after ? line : line.replaceAll(String(before), String(after)));

  const loaded = new Map<string, number>();
  for await (const entry of readTar(archive.open())) {
    const [kind, table = "", portion] = entry.name.split("/");
    if (kind === "blobs") await files.take(entry);
    if (kind !== "tables") continue;
    const columns = columnsOf.get(table);
    if (!columns && !own.tables.includes(table)) continue;
    if (!columns || portion === undefined) throw new Error(`The backup holds rows of an unknown table: ${entry.name}`);
    const lines = JSON.parse(await contentOf(entry.body)) as string[];
    const before = loaded.get(table) ?? 0;
    await insertNumbered(tx, { name: table, columns }, lines.map(moved), before);
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
  throw new Error(`The backup was made by a newer or another Gantry: this one does not know its migrations ${names}`);
}

async function refuseInUse({ database, replace, own }: OwnRestore): Promise<void> {
  if (!(await hasSchema(database.sql))) return;
  const tables = (await selectTables(database.sql, own)).map(({ name }) => name);
  if (tables.includes("nodes") && (await countAlive(database.sql)) > 0) {
    throw new Error("A server is running on this database: stop it first");
  }
  if (!replace && tables.includes("users") && (await hasUsers(database.sql))) {
    throw new Error("This database is not empty. Restore into a new one, or say --replace to lose what it holds");
  }
}

async function refuseOtherSchema({ sql }: Database, head: BackupHead, own: Names): Promise<void> {
  const here = { migrations: await selectMigrations(sql), tables: await selectTables(sql, own) };
  const same = JSON.stringify(here) === JSON.stringify({ migrations: head.migrations, tables: head.tables });
  if (same) return;
  throw new Error("The database is ahead of the backup: restore into a new, empty one");
}

async function refuseMissingRows(tx: Transaction, end: BackupEnd): Promise<void> {
  for (const [table, expected] of Object.entries(end.rows)) {
    const found = await countRows(tx, table);
    if (found !== expected) throw new Error(`The table ${table} has ${found} rows instead of ${expected}`);
  }
}
