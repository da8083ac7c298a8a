import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { inject } from "vitest";
import { migrationsDir, ownSchema, testDatabase } from "../../../test/support/database.ts";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { connect, type Database, migrate } from "../../engines/database/index.ts";
import { readMigrations } from "../../engines/database/migrate.ts";
import { type BackupDeps, checkArchive, hasTakenPlace, type RestoreDeps, restoreBackup, writeBackup } from "./index.ts";

const now = new Date("2026-05-01T00:00:00Z");

/** Databases and stores for tests, and everything away again at their end. */
export async function openWorkshop() {
  const scratch = await mkdtemp(join(tmpdir(), "backup-"));
  const closing: (() => Promise<unknown>)[] = [];
  const homes: string[] = [];
  return {
    scratch,
    closing,
    /** Of the stores, in the order of their making. */
    homes,

    async freshDatabase(): Promise<Database> {
      const { database, drop } = await testDatabase();
      closing.push(drop);
      return database;
    },

    /** Without any schema. */
    async bareDatabase(): Promise<Database> {
      const name = `bare_${randomBytes(6).toString("hex")}`;
      const admin = connect({ url: `${inject("postgresUrl")}/postgres`, poolSize: 1, deadlineMs: 60_000 });
      await admin.sql.unsafe(`create database ${name}`);
      const database = connect({ url: `${inject("postgresUrl")}/${name}`, poolSize: 2 });
      closing.push(async () => {
        await database.close();
        await admin.sql.unsafe(`drop database ${name} with (force)`);
        await admin.close();
      });
      return database;
    },

    async freshBlobs(bucket = "gantry"): Promise<BlobStore> {
      const home = join(scratch, randomBytes(6).toString("hex"));
      homes.push(home);
      const credentials = { accessKeyId: "a", secretAccessKey: "b".repeat(40) };
      const blobs = await openFilesystemBlobs({ home, bucket, credentials });
      closing.push(() => blobs.close());
      return blobs;
    },

    async close(): Promise<void> {
      for (const close of closing.reverse()) await close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

export async function backUp(database: Database, blobs: BlobStore, change: Partial<BackupDeps> = {}) {
  const parts: Uint8Array[] = [];
  const write = async (bytes: Uint8Array) => void parts.push(Buffer.from(bytes));
  const whileSchemaStays = <T>(work: () => Promise<T>) => work();
  const known = await readMigrations(migrationsDir);
  const usual = { database, blobs, keys: [], withBlobs: true, now, known, whileSchemaStays, write };
  const written = await writeBackup({ ...usual, ...change });
  return { written, archive: Buffer.concat(parts) };
}

export const archiveOf = async (database: Database, blobs: BlobStore) => (await backUp(database, blobs)).archive;

export async function restoreInto(
  bytes: Buffer,
  change: Partial<RestoreDeps> & Pick<RestoreDeps, "database" | "blobs">,
) {
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
  };
  return restoreBackup({
    archive: await checkArchive(() => Readable.from(pieces())),
    replace: false,
    now,
    known: await readMigrations(migrationsDir),
    migrateTo: (names) => migrate(change.database, ownSchema, { only: new Set(names) }),
    lock: async () => {},
    prepareKeys: async () => {},
    settleKeys: async (id) => ((await hasTakenPlace(change.database.sql, id)) ? "took place" : "did not"),
    ...change,
  });
}

export async function addUser({ sql }: Database, id: string, username: string): Promise<void> {
  await sql`insert into users (id, username, role, plan, created_at) values (${id}, ${username}, 'user', 'free', now())`;
  // In older schemas a trigger has done so.
  await sql`insert into wallets (user_id) values (${id}) on conflict do nothing`;
}

/** Of `usr_a`. */
export const addFile = (database: Database, key: string, state: "stored" | "awaiting" = "stored") =>
  database.sql`
    insert into files (key, id, owner_id, origin, state, content_type, size, etag, max_bytes, created_at, stored_at)
    values (${key}, ${`file_${key}`}, 'usr_a', 'link', ${state}, 'text/plain', 1, 'e', 10, now(), now())`;
