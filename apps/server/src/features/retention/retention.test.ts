import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { newId } from "@gantry/wire";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import type { Database } from "../../engines/database/index.ts";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";
import { openBatches } from "../batches/index.ts";
import { type Files, openFiles, openProtocolFiles, parseS3Path } from "../files/index.ts";
import { type Retention, startRetention } from "./index.ts";

const day = 86_400_000;
const running: Retention[] = [];
let home: string;
let database: Database;
let drop: () => Promise<void>;
let blobs: BlobStore;
let files: Files;
let ahead = 0;
let isTrusted = true;
let logged = "";

const clock = { read: async () => ({ now: new Date(Date.now() + ahead), isTrusted }) };
const log = pino(
  { level: "info" },
  {
    write: (line: string) => {
      logged += line;
    },
  },
);

const filesAt = (clock: Clock) => openFiles({ database, blobs, clock, maxUploadBytes: 1_000_000 });

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  home = await mkdtemp(join(tmpdir(), "retention-"));
  const credentials = { accessKeyId: "a", secretAccessKey: "b".repeat(40) };
  blobs = await openFilesystemBlobs({ home, bucket: "gantry", credentials });
  files = filesAt(systemClock);
});
beforeEach(async () => {
  ahead = 0;
  isTrusted = true;
  logged = "";
  await database.sql`truncate ended_predictions, live_predictions, deleted_predictions, files, idempotency_keys,
    webhook_deliveries, webhook_attempts`;
});
afterAll(async () => {
  for (const one of running) await one.stop();
  await blobs.close();
  await drop();
  await rm(home, { recursive: true });
});

function node(change: Partial<Parameters<typeof startRetention>[0]> = {}): Retention {
  const one = startRetention({
    database,
    blobs,
    files,
    batches: openBatches({
      database,
      files: openProtocolFiles({ database, blobs, clock: systemClock, maxUploadBytes: 1000 }),
    }),
    log,
    clock,
    resultDays: 30,
    threadDays: 30,
    uploadDays: 0,
    deliveryDays: 30,
    auditDays: 400,
    ...change,
  });
  running.push(one);
  return one;
}

const count = async (table: string): Promise<number> => {
  const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from ${database.sql(table)}`;
  return row?.n ?? -1;
};

/** Inserts an ended prediction with an output file. */
async function ended(beganDaysAgo: number, endedDaysAgo = beganDaysAgo): Promise<{ id: string; key: string }> {
  const at = (days: number) => new Date(Date.now() - days * day);
  const id = `${firstIdAt("pred", at(beganDaysAgo))}${newId("prediction").slice(-16)}`;
  await database.sql`
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, ended_at)
    values (${id}, 'usr_a', 'key_a', 'mdl_1', 'a/b', 'sync', 200, ${at(beganDaysAgo)}, ${at(endedDaysAgo)})`;
  const file = { kind: "file" as const, contentType: "text/plain", body: Buffer.from("made") };
  const { s3Path } = await files.storeOutput({ ownerId: "usr_a", predictionId: id, field: "text", file });
  return { id, key: parseS3Path(s3Path)?.key ?? "" };
}

const isThere = async ({ id, key }: { id: string; key: string }) => {
  const rows = await database.sql`select 1 from ended_predictions where id = ${id}`;
  const own = await database.sql`select 1 from files where key = ${key}`;
  return [rows.length, own.length, (await blobs.stat(key)) ? 1 : 0].join(" ");
};

test("ids sort by creation time", () => {
  const moment = new Date("2026-04-05T06:07:08.901Z");
  const id = `pred_${newId("prediction", Date.now() + 10 * 365 * day).slice(5)}`;
  expect(id < firstIdAt("pred", new Date(Date.now() + 11 * 365 * day))).toBe(true);
  expect(id > firstIdAt("pred", new Date(Date.now() + 9 * 365 * day))).toBe(true);
  expect(firstIdAt("pred", moment) < firstIdAt("pred", new Date(moment.getTime() + 1))).toBe(true);
});

test("notices are deleted some days after they were resolved, and open ones stay", async () => {
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_n', 'noted', 'user', 'free', now())`;
  await database.sql`
    insert into notices (id, user_id, kind, limit_micros, value_micros, created_at, resolved_at) values
      ('ntc_old', 'usr_n', 'balance_low', 1, 0, now() - interval '40 days', now() - interval '31 days'),
      ('ntc_new', 'usr_n', 'balance_low', 1, 0, now() - interval '40 days', now() - interval '29 days'),
      ('ntc_open', 'usr_n', 'balance_low', 1, 0, now() - interval '40 days', null)`;
  await database.sql`insert into notice_dismissals (notice_id, user_id) values ('ntc_old', 'usr_n')`;
  await node().pass();
  const left = await database.sql<{ id: string }[]>`select id from notices order by id`;
  expect(left.map(({ id }) => id)).toEqual(["ntc_new", "ntc_open"]);
});

test("stored responses are deleted some days after they ended, and not while they are queued", async () => {
  const at = (days: number) => new Date(Date.now() - days * day);
  const insert = async (begun: number, ended: number | null, predictionId = newId("prediction")) => {
    const id = `${firstIdAt("resp", at(begun))}${newId("response").slice(-16)}`;
    await database.sql`
      insert into responses (id, user_id, key_id, model_name, prediction_id, status, request, input, output, bytes,
        created_at, ended_at)
      values (${id}, 'usr_a', 'key_a', 'a/b', ${predictionId}, 'completed', '{}', '[]', '[]', 4, ${at(begun)},
        ${ended === null ? null : at(ended)})`;
    return id;
  };
  const waiting = newId("prediction");
  await database.sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until)
    values (${waiting}, 'usr_a', 'key_a', 'mdl_1', 'a/b', 'async', now() + interval '1 hour')`;
  await insert(31, 31);
  await insert(31, null);
  const kept = [await insert(31, 29), await insert(29, 29), await insert(31, null, waiting)];
  await node().pass();
  const rows = await database.sql<{ id: string }[]>`select id from responses`;
  expect(rows.map(({ id }) => id).sort()).toEqual(kept.sort());
});

test("marks of deleted contents are kept as long as results", async () => {
  const mark = async (begun: number, deleted: number) => {
    const at = (days: number) => new Date(Date.now() - days * day);
    const id = `${firstIdAt("pred", at(begun))}${newId("prediction").slice(-16)}`;
    await database.sql`
      insert into deleted_predictions (id, user_id, created_at, deleted_at)
      values (${id}, 'usr_a', ${at(begun)}, ${at(deleted)})`;
    return id;
  };
  await mark(40, 31);
  const kept = [await mark(40, 29), await mark(29, 29)];
  await node().pass();
  const rows = await database.sql<{ id: string }[]>`select id from deleted_predictions`;
  expect(rows.map(({ id }) => id).sort()).toEqual(kept.sort());
});

describe("results", () => {
  test("are deleted with their output files some days after they ended; uploads stay", async () => {
    const [old, late, young] = [await ended(31), await ended(31, 29), await ended(29)];
    const uploaded = "uploads/file_1/mine.txt";
    await blobs.put(uploaded, Buffer.from("mine"), { contentType: "text/plain" });
    await database.sql`
      insert into files (key, id, owner_id, origin, state, content_type, size, etag, max_bytes, created_at, stored_at)
      values (${uploaded}, 'file_1', 'usr_a', 'uploaded', 'stored', 'text/plain', 4, 'e', 10, '2020-01-01', '2020-01-01')`;
    await node().pass();
    expect(await Promise.all([old, late, young].map(isThere))).toEqual(["0 0 0", "1 1 1", "1 1 1"]);
    expect(await blobs.stat(uploaded)).toMatchObject({ size: 4 });
    ahead = 2 * day;
    await node().pass();
    expect(await Promise.all([late, young].map(isThere))).toEqual(["0 0 0", "0 0 0"]);
    expect(await blobs.stat(uploaded)).toMatchObject({ size: 4 });
  });

  test("are deleted in batches by several nodes, each once", async () => {
    await database.sql`
      insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, ended_at)
      select 'pred_0' || lpad(n::text, 25, '0'), 'usr_a', 'key_a', 'mdl_1', 'a/b', 'sync', 200, '2020-01-01', '2020-01-01'
      from generate_series(1, 730) n`;
    const made = [await ended(40), await ended(41)];
    const young = await ended(1);
    await Promise.all([node().pass(), node().pass(), node().pass()]);
    expect(await count("ended_predictions")).toBe(1);
    expect(await Promise.all(made.map(isThere))).toEqual(["0 0 0", "0 0 0"]);
    expect(await isThere(young)).toBe("1 1 1");
    const counts = [...logged.matchAll(/"task":"results","count":(\d+)/g)].map((match) => Number(match[1]));
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(732);
  });

  test("stay when their files cannot be deleted; other tasks go on", async () => {
    const old = await ended(31);
    await database.sql`
      insert into idempotency_keys (user_id, scope, key, fingerprint, prediction_id, created_at)
      values ('usr_a', 'a/b', 'k', 'f', 'pred_1', now() - interval '2 days')`;
    const away: BlobStore = { ...blobs, delete: () => Promise.reject(new Error("the store is away")) };
    await node({ blobs: away }).pass();
    expect(await isThere(old)).toBe("1 1 1");
    expect(logged).toContain("the store is away");
    expect(await count("idempotency_keys")).toBe(0);
    await node().pass();
    expect(await isThere(old)).toBe("0 0 0");
  });
});

test("expired deliveries, idempotency keys, key pairs, sign-ins and webhook secrets are deleted", async () => {
  const { sql } = database;
  const delivery = (id: string, age: string, status: string) => sql`
    insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, status, due_at,
      created_at)
    values (${id}, 'usr_a', ${id}, 'a/b', 'https://x', '', '{}', ${status},
      ${status === "pending" ? new Date() : null}, now() - ${age}::interval)`;
  await delivery("dlv_old", "31 days", "delivered");
  await delivery("dlv_open", "31 days", "pending");
  await delivery("dlv_new", "29 days", "failed");
  await sql`
    insert into idempotency_keys (user_id, scope, key, fingerprint, prediction_id, created_at)
    select 'usr_a', 'a/b', n::text, 'f', 'pred_1', now() - interval '25 hours' from generate_series(1, 2500) n
    union all select 'usr_a', 'a/b', 'young', 'f', 'pred_1', now() - interval '23 hours'`;
  await sql`insert into users (id, username, role, plan, created_at) values ('usr_k', 'kim', 'user', 'free', now())`;
  await sql`
    insert into api_keys (id, user_id, public, secret_hash, name, created_at)
    values ('key_k', 'usr_k', 'abcdefabcdef', decode(repeat('00', 32), 'hex'), '', now())`;
  await sql`
    insert into retired_key_pairs (public, key_id, secret_hash, valid_until) values
    ('000000000001', 'key_k', decode(repeat('01', 32), 'hex'), now() - interval '25 hours'),
    ('000000000002', 'key_k', decode(repeat('02', 32), 'hex'), now() + interval '1 hour')`;
  await sql`
    insert into sign_in_links (token_hash, user_id, created_at, expires_at) values
    (decode(repeat('01', 32), 'hex'), 'usr_k', now(), now() - interval '25 hours'),
    (decode(repeat('02', 32), 'hex'), 'usr_k', now(), now() - interval '23 hours')`;
  await sql`
    insert into password_resets (user_id, token_hash, created_at, expires_at)
    values ('usr_k', decode(repeat('01', 32), 'hex'), now(), now() - interval '25 hours')`;
  await sql`
    insert into sign_in_attempts (bucket, full_at) values
    (1, now() - interval '25 hours'), (2, '-infinity'), (3, now() - interval '23 hours')`;
  await sql`
    insert into api_keys (id, user_id, public, secret_hash, name, created_at, expires_at, session_ends_at) values
    ('key_own', 'usr_k', 'abcdefabcde1', decode(repeat('01', 32), 'hex'), '', now(), now() - interval '91 days', null),
    ('key_old', 'usr_k', 'abcdefabcde2', decode(repeat('02', 32), 'hex'), '', now(), null, now() - interval '91 days'),
    ('key_new', 'usr_k', 'abcdefabcde3', decode(repeat('03', 32), 'hex'), '', now(), null, now() - interval '89 days')`;
  await sql`
    insert into webhook_secrets (user_id, number, sealed, created_at, expires_at) values
    ('usr_k', 1, '', now(), now() - interval '25 hours'), ('usr_k', 2, '', now(), now() + interval '1 hour'),
    ('usr_k', 3, '', now(), null)`;
  await node().pass();
  const ids = async (query: PromiseLike<{ id: string }[]>) => (await query).map((row) => row.id).sort();
  expect(await ids(sql<{ id: string }[]>`select id from webhook_deliveries`)).toEqual(["dlv_new", "dlv_open"]);
  expect(await ids(sql<{ id: string }[]>`select key as id from idempotency_keys`)).toEqual(["young"]);
  expect(await ids(sql<{ id: string }[]>`select public as id from retired_key_pairs`)).toEqual(["000000000002"]);
  const links = sql<{ id: string }[]>`select left(encode(token_hash, 'hex'), 2) as id from sign_in_links`;
  expect(await ids(links)).toEqual(["02"]);
  expect(await ids(sql<{ id: string }[]>`select user_id as id from password_resets`)).toEqual([]);
  expect(await ids(sql<{ id: string }[]>`select bucket::text as id from sign_in_attempts`)).toEqual(["3"]);
  const revoked = sql<{ id: string }[]>`select id from api_keys where revoked_at is not null`;
  expect(await ids(revoked)).toEqual(["key_old"]);
  expect(await ids(sql<{ id: string }[]>`select number::text as id from webhook_secrets`)).toEqual(["2", "3"]);
});

describe("runs", () => {
  let sql: Database["sql"];
  beforeAll(() => {
    ({ sql } = database);
  });
  const parts = ["run_steps", "run_calls", "run_events", "run_confirmations", "run_secrets"];
  const idAt = (days: number) => `${firstIdAt("run", new Date(Date.now() - days * day))}${newId("run").slice(-16)}`;

  /** Inserts a run with one row in each table. */
  async function run(beganDaysAgo: number, endedDaysAgo: number | undefined, above: readonly string[] = []) {
    const id = idAt(beganDaysAgo);
    const over = endedDaysAgo === undefined ? null : new Date(Date.now() - endedDaysAgo * day);
    await sql`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, input, timeout_ms, max_steps, base_url,
        status, phase, completed_at)
      values (${id}, 'agt_1', 'rev_1', 'usr_a', 'usr_a', 'key_a', ${above as string[]}::text[], '{}', 1, 1, '',
        ${over ? "done" : "running"}, ${over ? "ended" : "working"}, ${over})`;
    await sql`
      insert into run_steps (run_id, n, kind, message, prediction_id) values (${id}, 1, 'work', '{}', ${`pred_${id}`})`;
    await sql`
      insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status)
      values (${id}, 1, 0, 'c', 't', '{}', 'read', 'ended')`;
    await sql`insert into run_events (run_id, n, type, data) values (${id}, 1, 'planning', '{}')`;
    await sql`
      insert into run_confirmations (id, run_id, root_id, step, position, tool, arguments, arguments_hash, expires_at)
      values (${`conf_${id}`}, ${id}, ${above[0] ?? id}, 1, 0, 't', '{}', '', now())`;
    await sql`
      insert into run_secrets (id, run_id, field, sealed, expires_at) values (${`sec_${id}`}, ${id}, 'f', '', now())`;
    return id;
  }
  async function left(): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`select id from runs`;
    const ids = rows.map((row) => row.id).sort();
    for (const table of parts) {
      const own = await sql<{ id: string }[]>`select distinct run_id as id from ${sql(table)}`;
      expect(own.map((row) => row.id).sort(), table).toEqual(ids);
    }
    return ids;
  }

  test("are deleted with all their records some days after they ended; active ones stay", async () => {
    const old = await run(40, 31);
    await run(40, 31, [old]);
    const late = await run(40, 29);
    const lateChild = await run(40, 35, [late]);
    const open = await run(40, undefined);
    const openChild = await run(40, 39, [open]);
    const ending = await run(40, 31);
    const endingChild = await run(40, undefined, [ending]);
    const young = await run(1, 1);
    await node().pass();
    expect(await left()).toEqual([late, lateChild, open, openChild, ending, endingChild, young].sort());
  });

  test("are deleted in batches by several nodes", async () => {
    await sql`truncate runs, run_steps, run_calls, run_events, run_confirmations, run_secrets cascade`;
    for (let i = 0; i < 120; i++) await run(40, 31);
    const young = await run(1, 1);
    await Promise.all([node().pass(), node().pass()]);
    expect(await left()).toEqual([young]);
  });

  test("are found behind thousands that stay with their threads", async () => {
    await sql`truncate runs, run_steps, run_calls, run_events, run_confirmations, run_secrets cascade`;
    await sql`insert into threads (user_id, id, key_id, agent_id, title) values ('usr_a', 'long', 'key_a', 'agt_1', '')`;
    const of = await run(42, 42);
    await sql`
      insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url, status,
        completed_at, thread_id)
      select left(id, 14) || to_char(i, 'FM0000'), agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms,
        max_steps, base_url, status, completed_at, 'long'
      from runs, generate_series(1, 4500) i where id = ${of}`;
    const old = await run(41, 41);
    await node().pass();
    expect(await sql`select from runs where id = any (${[of, old]}::text[])`).toHaveLength(0);
    expect(await sql`select from runs where thread_id = 'long'`).toHaveLength(4500);
    await sql`truncate runs, threads cascade`;
  });
});

test("nothing is deleted while the clock is not trusted", async () => {
  const old = await ended(31);
  isTrusted = false;
  await node().pass();
  expect(await isThere(old)).toBe("1 1 1");
  isTrusted = true;
  await node().pass();
  expect(await isThere(old)).toBe("0 0 0");
});

test("a clock that is set back does not delay the next pass", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const one = node();
    ahead = 2 * day;
    await one.pass();
    const old = await ended(31);
    ahead = 0;
    vi.advanceTimersByTime(3_600_000);
    await one.pass();
    expect(await isThere(old)).toBe("0 0 0");
  } finally {
    vi.useRealTimers();
  }
});

test("upload links that were never used are deleted in one pass, and only they are counted", async () => {
  const link = await files.createUploadLink({ ownerId: "usr_a", base: "http://x" });
  const key = parseS3Path(String(link.file_input?.s3_path))?.key ?? "";
  await blobs.put(key, Buffer.from("came"), { contentType: "text/plain" });
  for (let i = 0; i < 205; i++) await files.createUploadLink({ ownerId: "usr_a", base: "http://x" });
  await node().pass();
  expect(await count("files")).toBe(206);
  ahead = 26 * 3_600_000;
  await node().pass();
  expect(await count("files")).toBe(1);
  expect(logged).toContain(`"task":"abandoned uploads","count":205`);
});

test("uploads are deleted after uploadDays, if set; outputs are not", async () => {
  const text = { kind: "file" as const, contentType: "text/plain", body: Buffer.from("made") };
  await files.storeOutput({ ownerId: "usr_a", predictionId: newId("prediction"), field: "text", file: text });
  const upload = async () => {
    const sent = { ownerId: "usr_a", body: Readable.from([Buffer.from("mine")]), base: "http://x" };
    return parseS3Path(String((await files.storeUpload(sent)).file_input?.s3_path))?.key ?? "";
  };
  const old = await Promise.all(Array.from({ length: 120 }, upload));
  ahead = 8 * day;
  await node().pass();
  expect(await count("files")).toBe(121);
  await Promise.all([node({ uploadDays: 9 }).pass(), node({ uploadDays: 9 }).pass()]);
  expect(await count("files")).toBe(121);
  await Promise.all([node({ uploadDays: 7 }).pass(), node({ uploadDays: 7 }).pass()]);
  expect([await count("files"), await count("deleted_files")]).toEqual([1, 0]);
  expect((await Promise.all(old.map((key) => blobs.stat(key)))).some(Boolean)).toBe(false);
});

test("the days of an upload by link count from its arrival, and again after it is replaced", async () => {
  const link = await files.createUploadLink({ ownerId: "usr_a", base: "http://x" });
  const key = parseS3Path(String(link.file_input?.s3_path))?.key ?? "";
  const arriveAfter = async (days: number) => {
    ahead = days * day;
    const arriving = filesAt({ now: () => new Date(Date.now() + ahead) });
    await arriving.recordUpload(key, await blobs.put(key, Buffer.from("mine"), { contentType: "text/plain" }));
  };
  const isLeftAfter = async (days: number) => {
    ahead = days * day;
    await node({ uploadDays: 7 }).pass();
    return (await count("files")) === 1;
  };
  await arriveAfter(0.9);
  expect(await isLeftAfter(7.5)).toBe(true);
  await arriveAfter(7.5);
  expect([await isLeftAfter(14.4), await isLeftAfter(14.6)]).toEqual([true, false]);
});

test("input files of queued predictions are deleted after their predictions ended", async () => {
  const put = (id: string) => blobs.put(`inputs/${id}/0`, Buffer.from("in"), { contentType: "text/plain" });
  const idAt = (days: number) =>
    `${firstIdAt("pred", new Date(Date.now() - days * day))}${newId("prediction").slice(-16)}`;
  const [gone, waiting, arriving] = [idAt(3), idAt(3), idAt(0)];
  for (const id of [gone, waiting, arriving]) await put(id);
  await database.sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until)
    values (${waiting}, 'usr_a', 'key_a', 'mdl_1', 'a/b', 'async', now())`;
  await node().pass();
  expect((await Array.fromAsync(blobs.keys("inputs/"))).sort()).toEqual(
    [`inputs/${waiting}/0`, `inputs/${arriving}/0`].sort(),
  );
});

test("stop ends a pass after its current batch", async () => {
  await database.sql`
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, ended_at)
    select 'pred_0' || lpad(n::text, 25, '0'), 'usr_a', 'key_a', 'mdl_1', 'a/b', 'sync', 200, '2020-01-01', '2020-01-01'
    from generate_series(1, 400) n`;
  const one = node();
  const passing = one.pass();
  await one.stop();
  await passing;
  expect(await count("ended_predictions")).toBeGreaterThan(0);
});
