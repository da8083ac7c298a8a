import { afterAll, beforeAll, expect, test } from "vitest";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/index.ts";
import { addFile, addUser, backUp, openWorkshop, restoreInto } from "./backup.fixture.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const text = { contentType: "text/plain" };

async function addDriveFiles(database: Database, key: string, loose: string): Promise<void> {
  await database.sql`insert into drives (id, owner_id, name, created_at) values ('drv_1', 'usr_a', 'd', now())`;
  await database.sql`
    insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
    values ('drv_1', '/a', '/', 'file', ${key}, 1, 'text/plain', 'e', now(), now())`;
  await database.sql`insert into drive_loose_blobs (key, collect_after) values (${loose}, now())`;
}

/** An installation, a backup of it, and what was stored and deleted since. */
async function goOnAfterBackup(withBlobs: boolean) {
  const [database, blobs] = [await shop.freshDatabase(), await shop.freshBlobs()];
  await addUser(database, "usr_a", "anna");
  for (const key of ["old", "deleted"]) {
    await addFile(database, key);
    await blobs.put(key, Buffer.from(key), text);
  }
  await addFile(database, "awaited", "awaiting");
  const { archive } = await backUp(database, blobs, { withBlobs });
  await database.sql`delete from files where key = 'deleted'`;
  await blobs.delete("deleted");
  await database.sql`update files set state = 'stored' where key = 'awaited'`;
  await addFile(database, "new");
  for (const key of ["new-and-awaited", "never-sent"]) await addFile(database, key, "awaiting");
  await addDriveFiles(database, "drives/new", "drives/loose");
  for (const key of ["awaited", "new", "new-and-awaited", "drives/new", "drives/loose"])
    await blobs.put(key, Buffer.from(key), text);
  // Not ours: a bucket may hold more.
  await blobs.put("of-another-program", Buffer.from("x"), text);
  return { database, blobs, archive };
}

const keysOf = async (blobs: BlobStore) => (await Array.fromAsync(blobs.keys())).sort();

test("files of replaced rows are deleted, all others stay", async () => {
  const { database, blobs, archive } = await goOnAfterBackup(true);
  expect(await restoreInto(archive, { database, blobs, replace: true })).toMatchObject({ removed: 4, left: 0 });
  expect(await keysOf(blobs)).toEqual(["awaited", "deleted", "of-another-program", "old"]);
  // And nothing more to do for the next one.
  expect(await restoreInto(archive, { database, blobs, replace: true })).toMatchObject({ removed: 0, left: 0 });
  expect(await keysOf(blobs)).toEqual(["awaited", "deleted", "of-another-program", "old"]);
}, 30_000);

test("a backup without files deletes no file of its rows", async () => {
  const { database, blobs, archive } = await goOnAfterBackup(false);
  expect(await restoreInto(archive, { database, blobs, replace: true })).toMatchObject({ removed: 4, left: 0 });
  expect(await keysOf(blobs)).toEqual(["awaited", "of-another-program", "old"]);
}, 30_000);

test("a failed restore deletes nothing", async () => {
  const { database, blobs, archive } = await goOnAfterBackup(true);
  const before = await keysOf(blobs);
  const prepareKeys = () => Promise.reject(new Error("no room for keys"));
  await expect(restoreInto(archive, { database, blobs, replace: true, prepareKeys })).rejects.toThrow("no room");
  expect(await keysOf(blobs)).toEqual(before);
}, 30_000);

test("files that cannot be deleted are counted and do not undo the restore", async () => {
  const { database, blobs, archive } = await goOnAfterBackup(true);
  const stubborn: BlobStore = {
    ...blobs,
    delete: (key) => (key === "new" ? Promise.reject(new Error("the store is away")) : blobs.delete(key)),
  };
  const done = await restoreInto(archive, { database, blobs: stubborn, replace: true });
  expect(done).toMatchObject({ removed: 3, left: 1 });
  expect(await keysOf(blobs)).toEqual(["awaited", "deleted", "new", "of-another-program", "old"]);
}, 30_000);
