import { Readable } from "node:stream";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database, Transaction } from "../../engines/database/database.ts";
import { type BackupEnd, type BackupHead, type BackupSummary, blobSchema, type KeyFile, summaryOf } from "./backup.ts";
import { checkArchive, contentOf, parse } from "./check-archive.ts";
import {
  analyze,
  buryNodes,
  countLiveNodes,
  countRows,
  createPartition,
  deadlineMs,
  emptyTables,
  hasSchema,
  hasUsers,
  insertRows,
  selectMigrations,
  selectTables,
  selectWritableColumns,
  setSequence,
  stayOpen,
  suspendRules,
} from "./store.ts";
import { readTar, type TarEntry } from "./tar.ts";

export interface RestoreDeps {
  database: Database;
  blobs: BlobStore;
  /** The archive from its start; called twice. */
  open(): AsyncIterable<Uint8Array>;
  /** Throw away what the database holds. Without it only an empty one is filled. */
  replace: boolean;
  /** Every migration that this program knows. */
  known: readonly { name: string; hash: string }[];
  /** Brings the database to the migrations of these names and no further. */
  migrateTo(names: readonly string[]): Promise<unknown>;
  /** Called for each key file, before anything is kept. */
  keepKey(key: KeyFile): Promise<void>;
}

/**
 * Fills a database and a file store from an archive: all of it, or (but for files that nobody knows of) nothing.
 *
 *     archive checked ──► schema of its time ──► rows, sequences, files, keys: one transaction ──► schema of today
 */
export async function restoreBackup(deps: RestoreDeps): Promise<BackupSummary> {
  const { database } = deps;
  const { head, end, keys } = await checkArchive(deps.open);
  refuseUnknown(head, deps.known);
  await refuseInUse(deps);
  await deps.migrateTo(head.migrations.map(({ name }) => name));
  await refuseOtherSchema(database, head);

  await database.transaction(
    async (tx) => {
      await stayOpen(tx);
      const resumeRules = await suspendRules(tx);
      await emptyTables(
        tx,
        head.tables.map(({ name }) => name),
      );
      for (const partition of head.partitions) await createPartition(tx, partition);
      await load(deps, tx, head);
      for (const sequence of end.sequences) await setSequence(tx, sequence);
      await resumeRules();
      await refuseMissingRows(tx, end);
      await buryNodes(tx);
    },
    { deadlineMs },
  );
  await deps.migrateTo(deps.known.map(({ name }) => name));
  await database.transaction((tx) => analyze(tx), { deadlineMs });
  return summaryOf(head, end, keys);
}

async function load(deps: RestoreDeps, tx: Transaction, head: BackupHead): Promise<void> {
  const columnsOf = new Map<string, string[]>();
  for (const { name } of head.tables) columnsOf.set(name, await selectWritableColumns(tx, name));
  // The addresses of files name the bucket they lie in, and that may be another one here.
  const [before, after] = [head.bucket, deps.blobs.bucket].map((bucket) => `s3://${bucket}/`);
  const moved = (line: string) => (before === after ? line : line.replaceAll(String(before), String(after)));

  let blob: { key: string; content_type: string } | undefined;
  for await (const { name, body } of readTar(deps.open()) as AsyncIterable<TarEntry>) {
    const [kind, first = "", last] = name.split("/");
    if (kind === "keys") {
      await deps.keepKey({ name: first, content: Buffer.from(await contentOf(body)) });
    } else if (kind === "tables") {
      const columns = columnsOf.get(first);
      if (!columns || last === undefined) throw new Error(`The backup holds rows of an unknown table: ${name}`);
      const lines = JSON.parse(await contentOf(body)) as string[];
      await insertRows(tx, first, columns, lines.map(moved));
    } else if (kind === "blobs" && name.endsWith(".json")) {
      blob = parse(blobSchema, name, await contentOf(body));
    } else if (kind === "blobs") {
      if (!blob) throw new Error(`The backup does not say whose bytes ${name} are`);
      await deps.blobs.put(blob.key, Readable.from(body), { contentType: blob.content_type });
      blob = undefined;
    }
  }
}

function refuseUnknown(head: BackupHead, known: RestoreDeps["known"]): void {
  const hashes = new Map(known.map(({ name, hash }) => [name, hash]));
  const unknown = head.migrations.filter(({ name, hash }) => hashes.get(name) !== hash);
  if (unknown.length === 0) return;
  const names = unknown.map(({ name }) => name).join(", ");
  throw new Error(`The backup was made by a newer or another Gantry: this one does not know its migrations ${names}`);
}

async function refuseInUse({ database, replace }: RestoreDeps): Promise<void> {
  if (!(await hasSchema(database.sql))) return;
  const tables = (await selectTables(database.sql)).map(({ name }) => name);
  if (tables.includes("nodes") && (await countLiveNodes(database.sql)) > 0) {
    throw new Error("A server is running on this database: stop it first");
  }
  if (!replace && tables.includes("users") && (await hasUsers(database.sql))) {
    throw new Error("This database is not empty. Restore into a new one, or say --replace to lose what it holds");
  }
}

async function refuseOtherSchema(database: Database, head: BackupHead): Promise<void> {
  const here = { migrations: await selectMigrations(database.sql), tables: await selectTables(database.sql) };
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
