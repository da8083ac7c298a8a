import { randomBytes } from "node:crypto";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrationsDir, ownSchema } from "../../../test/support/database.ts";
import { databaseOf0050 } from "../../../test/support/database-of-0050.ts";
import { type Database, migrate, type SchemaFiles } from "../../engines/database/index.ts";
import { readMigrations } from "../../engines/database/migrate.ts";
import { createTarWriter, readTar } from "../../kernel/tar.ts";
import { addUser, archiveOf, openWorkshop, restoreInto } from "./backup.fixture.ts";
import { checkArchive } from "./check-archive.ts";
import { writeBackup } from "./write-backup.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const endedOutput = async (database: Database, id: string): Promise<string | undefined> => {
  const rows = await database.sql<{ output: string }[]>`
    select output::text as output from ended_predictions where id = ${id}`;
  return rows[0]?.output;
};

const endPrediction = (database: Database, id: string, output: string) =>
  database.sql`
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, output)
    values (${id}, 'usr_a', 'key_a', 'mdl_1', 'a/b', 'sync', 200, '2026-01-02T03:04:05.678901Z', ${output}::text::json)`;

describe("rows are restored unchanged", () => {
  test("with any content, number and size", async () => {
    const [from, to, blobs] = [await shop.freshDatabase(), await shop.freshDatabase(), await shop.freshBlobs()];
    await addUser(from, "usr_a", "anna");
    // JSON is kept as it was written: its order, its spaces, its NUL.
    const odd = '{"b": 1,  "a": "\\u0000 ,()\\"\\\\ \\n é日🙂", "n": 1.10, "b": 2}';
    await endPrediction(from, "pred_odd", odd);
    await endPrediction(from, "pred_null", "null");
    await endPrediction(from, "pred_large", JSON.stringify({ text: "x".repeat(9_000_000) }));
    await from.sql`create table usage_2020_03 partition of usage for values from ('2020-03-01') to ('2020-04-01')`;
    await from.sql`
      insert into usage (request_id, user_id, model_name, route, status, created_at, price_micros)
      select 'pred_' || n, 'usr_a', 'a/b', 'sync', 200, '2020-01-01'::timestamptz + n * interval '1 hour', n
      from generate_series(1, 30000) n`;
    await from.sql`
      select move_money('credit', 'outside', 'user:usr_a', 9007199254740, null, 'test') from generate_series(1, 3)`;
    await from.sql`insert into models (owner_id, name, manifest) values ('usr_a', 'm',
      '{"kind": "text", "visibility": "public", "capacity": 3}')`;
    await from.sql`insert into drives (id, owner_id, name, created_at) values ('drv_a', 'usr_a', 'd', now())`;
    await from.sql`
      insert into drive_indexes (drive_id, owner_id, key_id, created_at, updated_at)
      values ('drv_a', 'usr_a', 'key_a', now(), now())`;
    await from.sql`
      insert into drive_index_files (drive_id, path, blob_key, status, chunks, due_at, updated_at)
      values ('drv_a', '/a.txt', 'drives/f', 'indexed', 1, now(), now())`;
    await from.sql`
      insert into drive_chunks (drive_id, path, n, text, embedding, generation)
      values ('drv_a', '/a.txt', 0, 'Some words', '\\x0000803f', 1)`;

    const archive = await archiveOf(from, blobs);
    const summary = await restoreInto(archive, { database: to, blobs });
    expect(summary.rows).toBeGreaterThan(30_000);
    expect(await endedOutput(to, "pred_odd")).toBe(odd);
    expect(await endedOutput(to, "pred_null")).toBe("null");
    expect((await endedOutput(to, "pred_large"))?.length).toBe(9_000_011);
    for (const table of [
      "users",
      "ended_predictions",
      "usage",
      "ledger",
      "wallets",
      "models",
      "plans",
      "drive_chunks",
    ]) {
      const hash = (database: Database) =>
        database.sql`
          select count(*)::int as n, md5(string_agg(t::text, '|' order by t::text collate "C")) as hash
          from ${database.sql(table)} t`.then(([row]) => row);
      expect(await hash(to), table).toEqual(await hash(from));
    }
    const [march] = await to.sql<{ rows: number }[]>`select count(*)::int as rows from usage_2020_03`;
    expect(march?.rows).toBe(31 * 24);
    const [wallet] = await to.sql<{ balance: number }[]>`select balance_micros as balance from wallets`;
    expect(wallet?.balance).toBe(3 * 9_007_199_254_740);
    const [model] = await to.sql<{ kind: string }[]>`select kind from models`;
    expect(model?.kind).toBe("text");
    const [next] = await to.sql<{ id: string }[]>`
      insert into models (owner_id, name, manifest) values ('usr_a', 'n',
      '{"kind": "text", "visibility": "public", "capacity": 3}') returning id`;
    expect(next?.id).toBe("mdl_2");
  }, 60_000);

  test("from one snapshot during other writes", async () => {
    const [from, to, blobs] = [await shop.freshDatabase(), await shop.freshDatabase(), await shop.freshBlobs()];
    await addUser(from, "usr_a", "anna");
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) {
        await from.sql`select move_money('credit', 'outside', 'user:usr_a', 1, null, ${`row ${n}`})`;
      }
    })();
    await from.sql`select pg_sleep(0.2)`;
    const archive = await archiveOf(from, blobs);
    writing = false;
    await writer;
    await restoreInto(archive, { database: to, blobs });
    const [row] = await to.sql<{ rows: number; balance: number }[]>`
      select (select count(*)::int from ledger) as rows, (select balance_micros from wallets) as balance`;
    expect(row?.rows).toBeGreaterThan(0);
    expect(row?.balance).toBe(row?.rows);
  }, 60_000);
});

test("files keep their keys, and their addresses follow them into another bucket", async () => {
  const [from, to] = [await shop.freshDatabase(), await shop.freshDatabase()];
  const [blobs, elsewhere] = [await shop.freshBlobs(), await shop.freshBlobs("my-own-bucket")];
  await addUser(from, "usr_a", "anna");
  const key = `outputs/pred_a/${"é日 &<>".repeat(30)}/image.png`;
  const bytes = randomBytes(3_000_001);
  await blobs.put(key, bytes, { contentType: "image/png" });
  await blobs.put("empty", new Uint8Array(), { contentType: "text/plain" });
  await endPrediction(from, "pred_a", JSON.stringify({ image: `s3://gantry/${key}`, note: "s3://other/x" }));
  const summary = await restoreInto(await archiveOf(from, blobs), { database: to, blobs: elsewhere });
  expect(summary).toMatchObject({ blobs: 2, blobBytes: bytes.length });
  const opened = await elsewhere.open(key);
  expect(opened?.info).toMatchObject({ size: bytes.length, contentType: "image/png" });
  expect(Buffer.concat((await opened?.body.toArray()) ?? []).equals(bytes)).toBe(true);
  expect(await elsewhere.stat("empty")).toMatchObject({ size: 0 });
  expect(JSON.parse((await endedOutput(to, "pred_a")) ?? "")).toEqual({
    image: `s3://my-own-bucket/${key}`,
    note: "s3://other/x",
  });
}, 60_000);

/** That of this program, with one more migration. */
async function laterSchema(name: string, sql: string): Promise<SchemaFiles> {
  const migrations = join(shop.scratch, "migrations");
  await cp(ownSchema.migrations, migrations, { recursive: true });
  await writeFile(join(migrations, name), sql);
  return { ...ownSchema, migrations };
}

describe("versions", () => {
  test("a backup of an older schema is restored and migrated", async () => {
    const [from, to, blobs] = [await shop.bareDatabase(), await shop.bareDatabase(), await shop.freshBlobs()];
    await migrate(from, ownSchema);
    await addUser(from, "usr_a", "anna");
    const archive = await archiveOf(from, blobs);
    const newer = await laterSchema("9001-more.sql", "alter table users add column more text not null default 'yes'");
    const known = await readMigrations(newer.migrations);
    const restore = (database: Database) =>
      restoreInto(archive, {
        database,
        blobs,
        known,
        migrateTo: (names) => migrate(database, newer, { only: new Set(names) }),
      });
    await restore(to);
    expect(await to.sql`select username, more from users`).toMatchObject([{ username: "anna", more: "yes" }]);
    const applied = await to.sql<{ name: string }[]>`select name from schema_migrations order by name`;
    expect(applied.map(({ name }) => name)).toEqual(known.map(({ name }) => name));
    // Into one that is already ahead its rows would not fit.
    const ahead = await shop.bareDatabase();
    await migrate(ahead, newer);
    await expect(restore(ahead)).rejects.toThrow("ahead of the backup");
  }, 60_000);

  test("a backup from before the baseline is refused with advice", async () => {
    const [{ database, drop }, blobs] = [await databaseOf0050(), await shop.freshBlobs()];
    shop.closing.push(drop);
    const old = restoreInto(await archiveOf(database, blobs), { database: await shop.bareDatabase(), blobs });
    await expect(old).rejects.toThrow(
      "The backup was made by a Gantry from before the migration 0001-baseline.sql, which this one cannot read. Restore it " +
        "with that Gantry into a new database",
    );
  });

  test("tables altered during the backup are an error", async () => {
    const [from, blobs] = [await shop.freshDatabase(), await shop.freshBlobs()];
    await addUser(from, "usr_a", "anna");
    const known = await readMigrations(migrationsDir);
    const changedBy = async (statement: string) => {
      let isChanged = false;
      const write = async () => {
        if (!isChanged) await from.sql.unsafe(statement);
        isChanged = true;
      };
      const whileSchemaStays = <T>(work: () => Promise<T>) => work();
      return writeBackup({
        database: from,
        blobs,
        keys: [],
        withBlobs: false,
        now: new Date(),
        known,
        whileSchemaStays,
        write,
      });
    };
    for (const change of ["add column shoe_size int", "rename column shoe_size to shoes", "drop column shoes"]) {
      await expect(changedBy(`alter table users ${change}`)).rejects.toThrow(
        "The tables were altered during the backup, so it was discarded. Create it again.",
      );
    }
    expect(await changedBy("select 1")).toMatchObject({ missing: [] });
  });

  test("a backup of a newer or changed schema is refused", async () => {
    const [from, to, blobs] = [await shop.freshDatabase(), await shop.freshDatabase(), await shop.freshBlobs()];
    await from.sql`insert into schema_migrations (name, hash) values ('9999-later.sql', 'x')`;
    const restoring = restoreInto(await archiveOf(from, blobs), { database: to, blobs });
    await expect(restoring).rejects.toThrow("Unknown migrations: 9999-later.sql");
  });
});

test("tar entries round-trip, also if some are skipped", async () => {
  const parts: Uint8Array[] = [];
  const tar = createTarWriter(async (bytes) => void parts.push(bytes));
  const sizes = [0, 1, 511, 512, 513, 70_000];
  for (const size of sizes) await tar.file(`a/${size}`, Buffer.alloc(size, "x"));
  await tar.stream("streamed", 5, Readable.from([Buffer.from("he"), Buffer.from("llo")]));
  await expect(tar.stream("short", 5, Readable.from([Buffer.from("he")]))).rejects.toThrow("2 bytes long instead of 5");
  parts.splice(-2);
  await tar.end();
  const archive = Buffer.concat(parts);
  const seen: string[] = [];
  for await (const { name, size, body } of readTar(Readable.from([archive.subarray(0, 300), archive.subarray(300)]))) {
    if (size % 2 === 0) seen.push(name);
    else seen.push(`${name} ${Buffer.concat(await Array.fromAsync(body)).length}`);
  }
  expect(seen).toEqual(["a/0", "a/1 1", "a/511 511", "a/512", "a/513 513", "a/70000", "streamed 5"]);
});

test("a damaged description and a newer format give different errors", async () => {
  const head = async (text: string) => {
    const parts: Uint8Array[] = [];
    const tar = createTarWriter(async (bytes) => void parts.push(bytes));
    await tar.file("backup.json", Buffer.from(text));
    await tar.end();
    return checkArchive(() => Readable.from(parts));
  };
  await expect(head('{"format": 1, "ma')).rejects.toThrow(
    "The backup is damaged: its entry backup.json cannot be read",
  );
  await expect(head('{"format": 2}')).rejects.toThrow("was it made by a newer one?");
});
