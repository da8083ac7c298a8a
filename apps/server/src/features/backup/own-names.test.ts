import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrationsDir } from "../../../test/support/database.ts";
import { readMigrations } from "../../engines/database/migrate.ts";
import { createTarWriter } from "../../kernel/tar.ts";
import { addUser, backUp, openWorkshop, restoreInto } from "./backup.fixture.ts";
import { checkArchive } from "./check-archive.ts";
import { namesMadeBy } from "./own-names.rules.ts";
import { selectNamesBeside, selectSequences } from "./schema-store.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

test("the migrations create all tables of a database", async () => {
  const { sql } = await shop.freshDatabase();
  const own = namesMadeBy(await readMigrations(migrationsDir));
  const all = await selectNamesBeside(sql);
  expect([...own.tables].sort()).toEqual(all.tables);
  expect((await selectSequences(sql, own)).map(({ name }) => name)).toEqual(all.sequences);
});

test("an archive with tables of other programs is restored without them", async () => {
  const [from, to, blobs] = [await shop.freshDatabase(), await shop.freshDatabase(), await shop.freshBlobs()];
  await addUser(from, "usr_a", "anna");
  await from.sql.unsafe(`
    create table other_app (id serial, note text);
    insert into other_app (note) values ('one');
    create table other_parts (day date) partition by range (day);
    create table other_parts_1 partition of other_parts for values from ('2026-01-01') to ('2027-01-01')`);
  // Who does not know the migrations cannot know whose tables they are.
  const { archive, written } = await backUp(from, blobs, { known: [] });
  expect(written.leftOut).toEqual([]);
  const restored = await restoreInto(archive, { database: to, blobs });
  expect(restored).toMatchObject({ leftOut: ["other_app", "other_parts"], tables: written.tables - 2 });
  expect(await to.sql`select username from users`).toMatchObject([{ username: "anna" }]);
  expect(await to.sql`select to_regclass('other_app') as other`).toMatchObject([{ other: null }]);

  await from.sql`insert into other_app (note) values ('two')`;
  await restoreInto(archive, { database: from, blobs, replace: true });
  expect(await from.sql`select id, note from other_app order by id`).toMatchObject([{ id: 1 }, { id: 2, note: "two" }]);
  expect(await from.sql`select nextval('other_app_id_seq') as next`).toMatchObject([{ next: 3 }]);
}, 60_000);

test("a database without Gantry and an archive without tables are errors", async () => {
  const [bare, blobs] = [await shop.bareDatabase(), await shop.freshBlobs()];
  await expect(backUp(bare, blobs)).rejects.toThrow("This database does not contain Gantry tables");
  await bare.sql`create table schema_migrations (name text, hash text)`;
  await bare.sql`create table other_app (note text)`;
  await expect(backUp(bare, blobs)).rejects.toThrow("This database does not contain Gantry tables");

  const parts: Uint8Array[] = [];
  const tar = createTarWriter(async (bytes) => void parts.push(bytes));
  const head = { format: 1, made_at: "", bucket: "gantry", migrations: [], tables: [], partitions: [] };
  await tar.file("backup.json", Buffer.from(JSON.stringify(head)));
  await tar.end();
  await expect(checkArchive(() => Readable.from(parts))).rejects.toThrow("The backup holds no tables");
});
