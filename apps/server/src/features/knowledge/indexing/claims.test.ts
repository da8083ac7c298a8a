import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import type { Database } from "../../../engines/database/index.ts";
import { restartIndex } from "../settings.ts";
import { endFile, fitsIndex } from "./chunk-store.ts";
import { type ClaimedFile, claimFile, pauseIndex, releaseClaimsOf, releaseFile } from "./claim-store.ts";

let database: Database;
let drop: () => Promise<void>;
let sql: Database["sql"];

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  sql = database.sql;
  for (const id of ["ann", "bob"]) {
    await sql`insert into users (id, username, role, plan, created_at) values (${id}, ${id}, 'user', 'free', now())`;
    await sql`insert into drives (id, owner_id, name, created_at) values (${`drv_${id}`}, ${id}, 'd', now())`;
    await sql`
      insert into drive_indexes (drive_id, owner_id, key_id, created_at, updated_at)
      values (${`drv_${id}`}, ${id}, 'key', now(), now())`;
  }
});
afterAll(() => drop());
beforeEach(async () => {
  await sql`delete from drive_index_files`;
  await sql`delete from drive_items`;
  await sql`update drive_indexes set paused_reason = null, retry_at = null, chunks = 0, dimensions = null`;
});

async function add(drive: string, path: string, blobKey = `${drive}${path}`): Promise<void> {
  await sql`
    insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
    values (${drive}, ${path}, '/', 'file', ${blobKey}, 1, 'text/plain', 'e', now(), now())`;
  await sql`
    insert into drive_index_files (drive_id, path, blob_key, due_at, updated_at)
    values (${drive}, ${path}, ${blobKey}, now(), now())`;
}

const claim = (isLastSlot = false, nodeId = "node") => claimFile(sql, { nodeId, isLastSlot });
const chunk = { page: null, lineFrom: 1, lineTo: 1, heading: null, text: "words", embedding: null };
const endIndexed = (file: ClaimedFile) =>
  database.transaction((tx) => endFile(tx, file, { status: "indexed", reason: null, chunks: [chunk, chunk] }));
const claimed = async (...args: Parameters<typeof claim>) => {
  const file = await claim(...args);
  if (!file) throw new Error("no file was claimed");
  return file;
};

test("the user with the fewest claims is next, and the last slot is for users without one", async () => {
  for (const n of [1, 2, 3, 4]) await add("drv_ann", `/${n}`);
  expect((await claimed()).index.ownerId).toBe("ann");
  await add("drv_bob", "/1");
  expect((await claimed()).index.ownerId).toBe("bob");
  expect(await claim(true)).toBeUndefined();
  expect((await claimed()).index.ownerId).toBe("ann");
});

test("two nodes never claim the same file", async () => {
  for (let n = 0; n < 30; n++) await add("drv_ann", `/${n}`);
  const files = await Promise.all(Array.from({ length: 60 }, (_, n) => claim(false, `node-${n % 2}`)));
  const paths = files.flatMap((file) => file?.path ?? []);
  expect(new Set(paths).size).toBe(paths.length);
});

test("a version that was replaced is not written, and a lost claim neither", async () => {
  await add("drv_ann", "/a");
  const first = await claimed();
  await sql`update drive_index_files set claimed_by = null, claim = claim + 1, blob_key = 'new' where path = '/a'`;
  await sql`update drive_items set blob_key = 'new' where path = '/a'`;
  expect(await endIndexed(first)).toBe(false);
  expect(await releaseFile(sql, first, { dueInMs: 0, isTry: true })).toBe(false);
  const second = await claimed();
  expect(second).toMatchObject({ blobKey: "new", size: 1 });
  expect(await endIndexed(second)).toBe(true);
  expect(await endIndexed(second)).toBe(false);
  const [index] = await sql`select chunks from drive_indexes where drive_id = 'drv_ann'`;
  expect(index?.chunks).toBe(2);
});

test("a claim of an earlier generation writes nothing", async () => {
  await add("drv_ann", "/a");
  const first = await claimed();
  await sql`update drive_indexes set generation = generation + 1 where drive_id = 'drv_ann'`;
  expect(await endIndexed(first)).toBe(false);
  await releaseFile(sql, first, { dueInMs: 0, isTry: false });
  expect(await endIndexed(await claimed())).toBe(true);
});

test("an index restarts once for all the files that find another model", async () => {
  await add("drv_ann", "/a");
  await add("drv_ann", "/b");
  const files = [await claimed(), await claimed()];
  await Promise.all(files.map(({ index }) => restartIndex(database, index)));
  const [index] = await sql`select generation from drive_indexes where drive_id = 'drv_ann'`;
  expect(index?.generation).toBe((files[0]?.index.generation ?? 0) + 1);
});

test("chunks with long vectors fill an index earlier", async () => {
  await add("drv_ann", "/a");
  const file = await claimed();
  for (const [dimensions, most] of [
    [null, 200_000],
    [1_536, 200_000],
    [3_072, 100_000],
  ] as const) {
    await sql`update drive_indexes set chunks = ${most - 10}, dimensions = ${dimensions} where drive_id = 'drv_ann'`;
    expect([await fitsIndex(sql, file, 10), await fitsIndex(sql, file, 11)]).toEqual([true, false]);
  }
});

test("the claims of a dead node are free again, and its attempt counts", async () => {
  await add("drv_ann", "/a");
  expect(await claimed(false, "dead")).toMatchObject({ attempts: 1 });
  expect(await claim()).toBeUndefined();
  await releaseClaimsOf(sql, sql`f.claimed_by = 'dead'`);
  expect(await claimed()).toMatchObject({ attempts: 2, path: "/a" });
});

test("a paused index tries one file when its time comes, and none without a time", async () => {
  await add("drv_ann", "/a");
  await add("drv_ann", "/b");
  const { index, ...file } = await claimed();
  await pauseIndex(sql, index, { reason: "no funds", retryInMs: -1 });
  await releaseFile(sql, { index, ...file }, { dueInMs: 0, isTry: false });
  expect(await claimed()).toMatchObject({ attempts: 1 });
  expect(await claim()).toBeUndefined();
  await pauseIndex(sql, index, { reason: "no key", retryInMs: null });
  expect(await claim()).toBeUndefined();
  await pauseIndex(sql, { ...index, keyId: "another" }, { reason: "stale", retryInMs: -1 });
  expect(await claim()).toBeUndefined();
});
