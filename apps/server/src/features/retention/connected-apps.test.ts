import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import type { Database } from "../../engines/database/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLog } from "../../kernel/log.ts";
import { openBatches } from "../batches/index.ts";
import { openFiles, openProtocolFiles } from "../files/index.ts";
import { type Retention, startRetention } from "./index.ts";

const day = 86_400_000;
let database: Database;
let drop: () => Promise<void>;
let home: string;
let blobs: BlobStore;
let retention: Retention;

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  home = await mkdtemp(join(tmpdir(), "retention-"));
  blobs = await openFilesystemBlobs({
    home,
    bucket: "gantry",
    credentials: { accessKeyId: "a", secretAccessKey: "b".repeat(40) },
  });
  retention = startRetention({
    database,
    blobs,
    files: openFiles({ database, blobs, clock: systemClock, maxUploadBytes: 1_000_000 }),
    batches: openBatches({
      database,
      files: openProtocolFiles({ database, blobs, clock: systemClock, maxUploadBytes: 1000 }),
    }),
    log: createLog("silent"),
    clock: { read: async () => ({ now: new Date(), isTrusted: true }) },
    ...{ resultDays: 30, threadDays: 30, uploadDays: 0, deliveryDays: 30, auditDays: 400 },
  });
});
afterAll(async () => {
  await retention.stop();
  await blobs.close();
  await drop();
  await rm(home, { recursive: true });
});

test("apps that no user connected are deleted, apps that stopped are revoked, and their keys stay", async () => {
  const { sql } = database;
  const ago = (days: number) => new Date(Date.now() - days * day);
  await sql`insert into users (id, username, role, plan, created_at) values ('usr_o', 'olga', 'user', 'free', now())`;
  const client = (id: string, age: number) =>
    sql`insert into oauth_clients (id, name, redirect_uris, created_at) values (${id}, 'x', '{}', ${ago(age)})`;
  await client("oac_unused", 2);
  await client("oac_young", 0.5);
  await client("oac_used", 200);
  const connection = async (id: string, given: { code: number; refresh?: number; revoked?: number }) => {
    const [keyId, publicPart] = [`key_${id}`, id.padEnd(12, "0")];
    const hash = Buffer.alloc(32);
    const isConnected = given.refresh !== undefined;
    await sql`
      insert into api_keys (id, user_id, public, secret_hash, name, created_at, revoked_at)
      values (${keyId}, 'usr_o', ${publicPart}, ${hash}, '', now(), ${given.revoked === undefined ? null : ago(given.revoked)})`;
    await sql`
      insert into oauth_connections (key_id, client_id, public, redirect_uri, code_hash, code_challenge, code_expires_at,
        connected_at, refresh_hash, refresh_expires_at)
      values (${keyId}, 'oac_used', ${publicPart}, '', ${hash}, '', ${ago(given.code)},
        ${isConnected ? ago(given.code) : null}, ${isConnected ? hash : null}, ${isConnected ? ago(given.refresh ?? 0) : null})`;
    await sql`
      insert into oauth_access_tokens (public, key_id, secret_hash, valid_until)
      values (${publicPart}, ${keyId}, ${hash}, ${ago(given.refresh ?? given.code)})`;
  };
  await connection("waiting", { code: 0.5 });
  await connection("left", { code: 2 });
  await connection("lapsed", { code: 90, refresh: 2 });
  await connection("used", { code: 90, refresh: -50 });
  await connection("revoked", { code: 90, refresh: -50, revoked: 5 });
  await connection("gone", { code: 200, refresh: 100, revoked: 100 });
  await retention.pass();
  const ids = async (query: PromiseLike<{ id: string }[]>) => (await query).map(({ id }) => id).sort();
  expect(await ids(sql<{ id: string }[]>`select id from oauth_clients`)).toEqual(["oac_used", "oac_young"]);
  expect(await ids(sql<{ id: string }[]>`select key_id as id from oauth_connections`)).toEqual([
    "key_lapsed",
    "key_left",
    "key_revoked",
    "key_used",
    "key_waiting",
  ]);
  const working = sql<{ id: string }[]>`select id from api_keys where user_id = 'usr_o' and revoked_at is null`;
  expect(await ids(working)).toEqual(["key_used", "key_waiting"]);
  const keys = sql<{ id: string }[]>`select id from api_keys where user_id = 'usr_o'`;
  expect(await ids(keys)).toHaveLength(6);
  const tokens = sql<{ id: string }[]>`select key_id as id from oauth_access_tokens`;
  expect(await ids(tokens)).toEqual(["key_revoked", "key_used", "key_waiting"]);
});
