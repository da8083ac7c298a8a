import { Readable } from "node:stream";
import { newId } from "@gantry/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { noTelemetry } from "../../engines/telemetry/telemetry.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { ClaimedBatch } from "./batch.ts";
import { claimBatch, releaseClaim } from "./claim-store.ts";
import { type BatchesDeps, LostClaim, leaseMs } from "./context.ts";
import { workOnBatch } from "./work-on-batch.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
const [userId, keyId] = [newId("user"), newId("key")];
const signal = new AbortController().signal;

beforeAll(async () => {
  own = await testDatabase();
  await own.database.sql`
    insert into users (id, username, role, plan, created_at) values (${userId}, 'u', 'user', 'unlimited', now())`;
  await own.database.sql`
    insert into api_keys (id, user_id, public, secret_hash, name, created_at)
    values (${keyId}, ${userId}, ${userId.slice(-12)}, ${Buffer.alloc(32)}, '', now())`;
});
afterAll(() => own.drop());

/** A batch of so many lines, with the files of its user in memory. */
async function batchOf(count: number, accept: (customId: string) => Promise<void>) {
  const { database } = own;
  const text = Array.from({ length: count }, (_, n) =>
    JSON.stringify({ custom_id: `${n}`, method: "POST", url: "/v1/embeddings", body: { n: `${n}` } }),
  ).join("\n");
  const files = new Set<string>();
  const outages: { next?: Error } = {};
  const file = { id: "file_in", key: "in", purpose: "batch", size: text.length, createdAt: new Date(), filename: "" };
  const deps: BatchesDeps = {
    database,
    log: pino({ level: "silent" }),
    files: {
      find: async () => {
        if (outages.next) throw outages.next;
        return file;
      },
      open: async (_: unknown, start = 0) => Readable.from([Buffer.from(text.slice(start))]),
      storeResults: async ({ body }: { body: Readable }) => {
        await body.toArray();
        const id = newId("file");
        files.add(id);
        return id;
      },
      listResults: async () => [...files],
      deleteResults: async (_: string, ids: readonly string[]) => {
        for (const id of ids) files.delete(id);
      },
      delete: async (_: unknown, id: string) => void files.delete(id),
    } as unknown as BatchesDeps["files"],
    predictions: {
      accept: async ({ input }: { input: unknown }) => {
        await accept(String((input as { n: unknown }).n));
        return { predictionId: "", rate: undefined };
      },
      cancel: async () => undefined,
    } as unknown as BatchesDeps["predictions"],
    accounts: { callerOfKey: async () => ({ userId }) as Caller },
    telemetry: noTelemetry,
    protocol: {
      askedOf: () => ({}),
      prepare: async ({ body }: { body: object }) => ({ input: body }),
      failure: ({ type }: { type: string }) => ({ status: 400, body: { type } }),
    } as unknown as BatchesDeps["protocol"],
  };
  await database.sql`delete from batches`;
  await database.sql`
    insert into batches (id, user_id, key_id, endpoint, input_file_id, base_url, expires_at)
    values (${newId("batch")}, ${userId}, ${keyId}, '/v1/embeddings', 'file_in', '', now() + interval '1 day')`;
  return { deps, files, outages, claimed: await claim() };
}

async function claim(): Promise<ClaimedBatch> {
  const batch = await claimBatch(own.database.sql, { leaseMs, mostOfUser: 100 });
  if (!batch) throw new Error("no batch to claim");
  return batch;
}

test("a batch whose lines wait for a limit lets others go first when its turn is over", async () => {
  const limited = async () => {
    throw fault("rate_limit", "Wait", { retryAfterSeconds: 60 });
  };
  const { deps, claimed } = await batchOf(3, limited);
  // A turn that is over before its first line waits.
  expect(await workOnBatch(deps, claimed, { turnMs: 0, signal })).toBe(0);
  const pauseMs = await workOnBatch(deps, { ...claimed, status: "in_progress" }, { turnMs: 2_000, signal });
  expect(pauseMs).toBeGreaterThan(0);
  expect(pauseMs).toBeLessThan(leaseMs);
  const open = await own.database.sql`select 1 from batch_lines where batch_id = ${claimed.id} and status is null`;
  expect(open).toHaveLength(3);
}, 30_000);

test("a refusal for funds is tried again, because what was reserved may have returned since", async () => {
  const asked: string[] = [];
  const { deps, claimed } = await batchOf(3, async (customId) => {
    asked.push(customId);
    if (asked.length <= 2) throw fault("insufficient_funds", "Insufficient funds");
  });
  await workOnBatch(deps, claimed, { turnMs: 5_000, signal });
  expect(asked.toSorted()).toEqual(["0", "0", "1", "1", "2"]);
  const [row] = await own.database.sql`select stop_code from batches where id = ${claimed.id}`;
  expect(row).toEqual({ stop_code: null });
}, 30_000);

test("a line that the program cannot read does not hold up the others", async () => {
  const { deps, claimed } = await batchOf(3, async () => {});
  const prepare = async ({ body }: { body: object }) => {
    if ((body as { n: string }).n === "1") throw new TypeError("read is not a function");
    return { input: body };
  };
  const failing = { ...deps, protocol: { ...deps.protocol, prepare } as unknown as BatchesDeps["protocol"] };
  await workOnBatch(failing, claimed, { turnMs: 2_000, signal });
  const refused = await own.database.sql`
    select line, refusal ->> 'type' as type from batch_lines where batch_id = ${claimed.id} and status is not null`;
  expect(refused).toMatchObject([{ line: 2, type: "internal_server_error" }]);
}, 30_000);

test("lines that were never read are listed as failed, also if the file could not be looked up at first", async () => {
  const { deps, files, outages, claimed } = await batchOf(3, async () => {});
  await own.database.sql`
    update batches set status = 'cancelling', stop_code = 'batch_cancelled', total = 3 where id = ${claimed.id}`;
  const cancelled: ClaimedBatch = { ...claimed, status: "cancelling", total: 3 };
  const interrupted: BatchesDeps = {
    ...deps,
    files: {
      ...deps.files,
      listResults: async (...asked) => {
        outages.next = fault("service_unavailable", "The database is restarting");
        return deps.files.listResults(...asked);
      },
    },
  };
  await expect(workOnBatch(interrupted, cancelled, { turnMs: 5_000, signal })).rejects.toThrow("restarting");
  delete outages.next;
  await workOnBatch(deps, cancelled, { turnMs: 5_000, signal });
  const [row] = await own.database.sql`select status, failed from batches where id = ${claimed.id}`;
  expect(row).toEqual({ status: "cancelled", failed: 3 });
  expect(files.size).toBe(1);
}, 30_000);

test("a batch ends when its lines are refused for funds and nothing is reserved", async () => {
  const { deps, claimed } = await batchOf(3, async () => {
    throw fault("insufficient_funds", "Insufficient funds");
  });
  await workOnBatch(deps, claimed, { turnMs: 20_000, signal });
  const [row] = await own.database.sql`select status, stop_code, failed from batches where id = ${claimed.id}`;
  expect(row).toEqual({ status: "completed", stop_code: "insufficient_quota", failed: 3 });
}, 30_000);

test("the claim is given up only after every line that is being queued has settled", async () => {
  let settled = 0;
  const { deps, claimed } = await batchOf(3, async (customId) => {
    if (customId === "0") throw fault("service_unavailable", "The database is restarting");
    await new Promise((resolve) => setTimeout(resolve, 200));
    settled += 1;
  });
  await expect(workOnBatch(deps, claimed, { turnMs: 5_000, signal })).rejects.toThrow("restarting");
  expect(settled).toBe(2);
});

test("a node that lost its claim deletes no results of the node that ended the batch", async () => {
  const refused = async () => {
    throw fault("value_error", "Wrong");
  };
  const { deps, files, claimed } = await batchOf(2, refused);
  // The first node stalls while it looks for results of a node that died.
  const { promise: isEnded, resolve: end } = Promise.withResolvers<void>();
  const { promise: isListing, resolve: listing } = Promise.withResolvers<void>();
  const stalling: BatchesDeps = {
    ...deps,
    files: {
      ...deps.files,
      listResults: async (ownerId: string, id: string) => {
        listing();
        await isEnded;
        return deps.files.listResults(ownerId, id);
      },
    },
  };
  const stalled = workOnBatch(stalling, claimed, { turnMs: 5_000, signal });
  await isListing;
  await releaseClaim(own.database.sql, claimed, 0);
  const next = await claim();
  expect(next.id).toBe(claimed.id);
  await workOnBatch(deps, next, { turnMs: 5_000, signal });
  end();
  await expect(stalled).rejects.toBeInstanceOf(LostClaim);
  const [row] = await own.database.sql<{ file: string }[]>`
    select error_file_id as file from batches where id = ${claimed.id}`;
  expect([...files]).toEqual([row?.file]);
});
