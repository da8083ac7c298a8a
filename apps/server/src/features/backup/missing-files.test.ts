import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashKey } from "../../engines/blobs/object-file.ts";
import { addFile, addUser, backUp, openWorkshop } from "./backup.fixture.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const text = { contentType: "text/plain" };

test("missing files of rows are reported, other files are not", async () => {
  const database = await shop.freshDatabase();
  const blobs = await shop.freshBlobs();
  await addUser(database, "usr_a", "anna");
  for (const key of ["there", "gone", "damaged"]) {
    await addFile(database, key);
    await blobs.put(key, Buffer.from("x".repeat(100)), text);
  }
  await addFile(database, "on-its-way", "awaiting");
  await database.sql`insert into drives (id, owner_id, name, created_at) values ('drv_1', 'usr_a', 'd', now())`;
  await database.sql`
    insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
    values ('drv_1', '/a', '/', 'file', 'drives/lost', 1, 'text/plain', 'e', now(), now())`;
  expect((await backUp(database, blobs)).written).toMatchObject({ blobs: 3, missing: ["drives/lost"] });

  await blobs.delete("gone");
  await truncate(join(shop.homes[0] ?? "", "blobs", "gantry", hashKey("damaged").charAt(0), hashKey("damaged")), 50);
  expect((await backUp(database, blobs)).written).toMatchObject({
    blobs: 1,
    missing: ["damaged", "drives/lost", "gone"],
  });

  // Deleted by its owner while the backup was made: the tables of its moment speak of it, those of now do not.
  let deleted = false;
  const deleting = {
    ...blobs,
    async *keys() {
      if (!deleted) await database.sql`delete from files where key in ('gone', 'there')`;
      deleted = true;
      await blobs.delete("there");
      yield* blobs.keys();
    },
  };
  expect((await backUp(database, deleting)).written.missing).toEqual(["damaged", "drives/lost"]);
});
