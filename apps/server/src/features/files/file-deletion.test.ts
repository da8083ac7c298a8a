import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { everythingOf } from "../accounts/index.ts";
import { collectDeletedFiles, deleteFile } from "./delete-files.ts";
import { type FilesDeps, parseS3Path } from "./index.ts";
import { listFiles, openOwnedFile } from "./read-files.ts";
import { abandonFile, markAwaitingAgain, markStored } from "./store.ts";
import { storeOutput, storeUpload, withdrawUpload } from "./store-file.ts";
import { sweepAbandonedFiles } from "./sweep-abandoned-files.ts";
import { createUploadLink } from "./upload-links.ts";

const ana = "usr_ana";
const base = "http://gantry.example";
const hour = 3_600_000;
let home: string;
let deps: FilesDeps;
let drop: () => Promise<void>;
let ahead = 0;

beforeAll(async () => {
  const fresh = await testDatabase();
  drop = fresh.drop;
  home = await mkdtemp(join(tmpdir(), "deleting-files-"));
  const clock = { now: () => new Date(Date.now() + ahead) };
  const credentials = { accessKeyId: "a", secretAccessKey: "b".repeat(40) };
  const blobs = await openFilesystemBlobs({ home, bucket: "gantry", credentials, clock });
  deps = { database: fresh.database, blobs, clock, maxUploadBytes: 1_000_000 };
});
beforeEach(async () => {
  ahead = 0;
  await deps.database.sql`truncate files, deleted_files, upload_totals, open_links`;
});
afterAll(async () => {
  await deps.blobs.close();
  await drop();
  await rm(home, { recursive: true });
});

const put = (key: string, text: string) => deps.blobs.put(key, Buffer.from(text), { contentType: "text/plain" });
const uploaded = async (text: string) => {
  const { file_input } = await storeUpload(deps, { ownerId: ana, body: Readable.from([Buffer.from(text)]), base });
  return found(file_input?.s3_path);
};
const linked = async () => found((await createUploadLink(deps, { ownerId: ana, base })).file_input?.s3_path);
async function found(s3Path: unknown) {
  const key = parseS3Path(String(s3Path))?.key ?? "";
  const [row] = await deps.database.sql<{ id: string }[]>`select id from files where key = ${key}`;
  return { key, id: row?.id ?? "", s3Path: String(s3Path) };
}
const count = async (table: string) =>
  (await deps.database.sql<{ n: number }[]>`select count(*)::int as n from ${deps.database.sql(table)}`)[0]?.n;
const total = async () => (await deps.database.sql`select bytes from upload_totals where user_id = ${ana}`)[0]?.bytes;

const swept = (those: FilesDeps) => sweepAbandonedFiles(those, deps.clock.now(), createLog("silent"));

test("bytes that could not be deleted are collected later", async () => {
  const { key, id } = await uploaded("mine");
  const blobs = { ...deps.blobs, delete: async () => Promise.reject(new Error("away")) };
  await deleteFile({ ...deps, blobs }, everythingOf(ana), id);
  expect([await count("files"), await count("deleted_files")]).toEqual([0, 1]);
  expect(await deps.blobs.stat(key)).toBeDefined();
  expect(await collectDeletedFiles(deps, deps.clock.now())).toEqual({ dropped: 1, more: false });
  expect([await deps.blobs.stat(key), await count("deleted_files")]).toEqual([undefined, 0]);
});

test("an upload to an external store after its file was deleted is collected when the link expires", async () => {
  const { key, id } = await linked();
  await put(key, "once");
  await deleteFile(deps, everythingOf(ana), id);
  await put(key, "again");
  ahead = 24 * hour;
  expect((await collectDeletedFiles(deps, deps.clock.now())).dropped).toBe(0);
  ahead = 26 * hour;
  expect((await collectDeletedFiles(deps, deps.clock.now())).dropped).toBe(1);
  expect([await deps.blobs.stat(key), await count("deleted_files")]).toEqual([undefined, 0]);
});

test("stored bytes are counted when uploads arrive, are replaced and are deleted", async () => {
  const first = await uploaded("12345");
  const second = await linked();
  const open = () => openOwnedFile(deps, { ...everythingOf(ana), s3Path: second.s3Path, loc: ["body", "image"] });
  await put(second.key, "123");
  await open();
  expect(await total()).toBe(8);
  await put(second.key, "1234567");
  await open();
  expect(await total()).toBe(12);
  await deleteFile(deps, everythingOf(ana), first.id);
  expect(await total()).toBe(7);
  await deleteFile(deps, everythingOf(ana), second.id);
  expect(await total()).toBe(0);
});

test("the count stays exact under concurrent replacement and deletion", async () => {
  const { sql } = deps.database;
  const [kept, gone] = [await linked(), await linked()];
  const arrival = (size: number) => ({ size, contentType: "text/plain", etag: "e", now: deps.clock.now() });
  const changes = Array.from({ length: 40 }, (_, n) => [
    markStored(sql, kept.key, arrival(n * n)),
    markStored(sql, gone.key, arrival(1_000 + n)),
    n % 8 === 0 ? markAwaitingAgain(sql, { ownerId: ana, key: kept.key }) : undefined,
    n === 20 ? abandonFile(sql, { ownerId: ana, key: gone.key }, deps.clock.now()) : undefined,
  ]);
  await Promise.all(changes.flat());
  const [row] = await sql`select count(*)::int as files, sum(coalesce(size, 0))::int as bytes from files`;
  expect(row).toEqual({ files: 1, bytes: await total() });
  expect([await count("open_links"), await count("deleted_files")]).toEqual([1, 1]);
});

test("an upload to an external store above the quota is deleted by the sweep", async () => {
  const narrow = { ...deps, storageBytesPerUser: 6 };
  const [kept, used, never] = [await linked(), await linked(), await linked()];
  for (const { key } of [kept, used, never]) await put(key, "12345");
  const open = (s3Path: string) => openOwnedFile(narrow, { ...everythingOf(ana), s3Path, loc: ["body", "image"] });
  expect(await open(kept.s3Path)).toMatchObject({ size: 5 });
  await expect(open(used.s3Path)).rejects.toMatchObject({ type: "storage_quota_exceeded", retryable: false });
  expect(await deps.blobs.stat(used.key)).toBeUndefined();
  ahead = 26 * hour;
  expect(await swept(narrow)).toEqual({ looked: 3, dropped: 2 });
  expect([await deps.blobs.stat(never.key), await count("files"), await total()]).toEqual([undefined, 1, 5]);
});

test("an upload after the first check is checked again when the link has expired", async () => {
  const narrow = { ...deps, storageBytesPerUser: 20, maxUploadBytes: 12 };
  const linkedTo = async (s: FilesDeps) =>
    found((await createUploadLink(s, { ownerId: ana, base })).file_input?.s3_path);
  const [same, grown, long, much, lost] = await Promise.all(Array.from({ length: 5 }, () => linkedTo(narrow)));
  for (const one of [same, grown, long, much, lost]) {
    await put(one?.key ?? "", "123");
    await openOwnedFile(narrow, { ...everythingOf(ana), s3Path: one?.s3Path ?? "", loc: ["body", "image"] });
  }
  expect(await total()).toBe(15);
  await put(grown?.key ?? "", "12345");
  await put(long?.key ?? "", "1234567890123");
  await put(much?.key ?? "", "123456789012");
  await deps.blobs.delete(lost?.key ?? "");
  ahead = 24 * hour;
  expect(await swept(narrow)).toEqual({ looked: 0, dropped: 0 });
  ahead = 26 * hour;
  expect(await swept(narrow)).toEqual({ looked: 5, dropped: 2 });
  const rows = await deps.database.sql<{ key: string; size: number }[]>`select key, size from files order by key`;
  const kept = [same, grown, lost].map((one, n) => ({ key: one?.key, size: n === 1 ? 5 : 3 }));
  expect(rows).toEqual(kept.sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1)));
  for (const one of [long, much]) expect(await deps.blobs.stat(one?.key ?? "")).toBeUndefined();
  expect([await total(), await count("open_links"), (await swept(narrow)).looked]).toEqual([11, 0, 0]);
});

test("a damaged file is left and does not stop the sweep", async () => {
  const links = await Promise.all(Array.from({ length: 4 }, () => linked()));
  const [counted, uncounted, later, unused] = links.map(({ key }) => key);
  for (const { key } of links) if (key !== unused) await put(key, "123");
  for (const { key, s3Path } of links)
    if (key === counted || key === later)
      await openOwnedFile(deps, { ...everythingOf(ana), s3Path, loc: ["body", "image"] });
  await put(later ?? "", "12345");
  await deps.database
    .sql`update open_links set created_at = created_at - interval '1 second' where key = ${counted ?? ""}`;
  const stat: BlobStore["stat"] = async (key) => {
    if (key === counted || key === uncounted) throw new Error("the stored object is damaged");
    return deps.blobs.stat(key);
  };
  const damaged = { ...deps, blobs: { ...deps.blobs, stat } };
  ahead = 26 * hour;
  expect(await swept(damaged)).toEqual({ looked: 3, dropped: 1 });
  expect([await count("files"), await count("open_links"), await total()]).toEqual([3, 0, 8]);
  expect(await swept(damaged)).toEqual({ looked: 0, dropped: 0 });
});

test("a failed check is retried; an unavailable store ends the sweep", async () => {
  const links = await Promise.all(Array.from({ length: 2 }, () => linked()));
  ahead = 26 * hour;
  const [first] = links.map(({ key }) => key).sort();
  const failing = (error: Error): FilesDeps => {
    const remove: BlobStore["delete"] = async (key) => (key === first ? Promise.reject(error) : deps.blobs.delete(key));
    return { ...deps, blobs: { ...deps.blobs, delete: remove } };
  };
  await expect(swept(failing(fault("service_unavailable", "away")))).rejects.toMatchObject({
    type: "service_unavailable",
  });
  await swept(failing(new Error("a disk error")));
  expect([await count("files"), await count("open_links")]).toEqual([1, 1]);
  expect(await swept(deps)).toEqual({ looked: 1, dropped: 1 });
});

test("a link deleted with its file is not checked again", async () => {
  const { id } = await linked();
  expect(await count("open_links")).toBe(1);
  await deleteFile(deps, everythingOf(ana), id);
  expect(await count("open_links")).toBe(0);
});

test("a failed upload leaves no file, and its bytes are collected", async () => {
  const away = fault("service_unavailable", "away");
  const late: string[] = [];
  const put: BlobStore["put"] = async (key, body, options) => {
    await deps.blobs.put(key, body, options);
    late.push(key);
    throw away;
  };
  const failing = { ...deps, blobs: { ...deps.blobs, put } };
  const body = Readable.from([Buffer.from("mine")]);
  await expect(storeUpload(failing, { ownerId: ana, body, base })).rejects.toMatchObject({ type: away.type });
  const file = { kind: "file" as const, contentType: "text/plain", body: Buffer.from("made") };
  const output = { ownerId: ana, predictionId: "pred_1", field: "text", file };
  await expect(storeOutput(failing, output)).rejects.toMatchObject({ type: away.type });
  expect(await listFiles(deps, everythingOf(ana), { base: "http://host" }, { limit: 10, offset: 0 })).toEqual({
    entries: [],
    total: 0,
    searchedFrom: null,
  });
  ahead = 24 * hour;
  expect((await collectDeletedFiles(deps, deps.clock.now())).dropped).toBe(0);
  ahead = 26 * hour;
  expect((await collectDeletedFiles(deps, deps.clock.now())).dropped).toBe(2);
  expect(await Promise.all(late.map((key) => deps.blobs.stat(key)))).toEqual([undefined, undefined]);
});

test("bytes whose row could not be updated leave no file and are collected", async () => {
  const { sql } = deps.database;
  await sql.unsafe(`
    create function refuse_update() returns trigger language plpgsql as $$
      begin raise exception 'deadlock detected' using errcode = '40P01'; end $$;
    create trigger refuse_update before update on files for each row execute function refuse_update()`);
  const stored: string[] = [];
  const put: BlobStore["put"] = async (key, body, options) => {
    stored.push(key);
    return deps.blobs.put(key, body, options);
  };
  const watched = { ...deps, blobs: { ...deps.blobs, put } };
  try {
    const body = Readable.from([Buffer.from("mine")]);
    await expect(storeUpload(watched, { ownerId: ana, body, base })).rejects.toThrow();
  } finally {
    await sql.unsafe("drop trigger refuse_update on files; drop function refuse_update()");
  }
  const [key = ""] = stored;
  expect(await deps.blobs.stat(key)).toBeDefined();
  expect([await count("files"), await count("deleted_files")]).toEqual([0, 1]);
  expect(await collectDeletedFiles(deps, deps.clock.now())).toEqual({ dropped: 1, more: false });
  expect([await deps.blobs.stat(key), await count("deleted_files")]).toEqual([undefined, 0]);
});

test("an upload withdrawn while the store is unavailable is collected later", async () => {
  const { key, s3Path } = await uploaded("mine");
  const blobs = { ...deps.blobs, delete: async () => Promise.reject(new Error("away")) };
  await withdrawUpload({ ...deps, blobs }, { ownerId: "usr_other", s3Path });
  expect(await count("files")).toBe(1);
  await withdrawUpload({ ...deps, blobs }, { ownerId: ana, s3Path });
  expect([await count("files"), await total()]).toEqual([0, 0]);
  expect((await collectDeletedFiles(deps, deps.clock.now())).dropped).toBe(1);
  expect(await deps.blobs.stat(key)).toBeUndefined();
});
