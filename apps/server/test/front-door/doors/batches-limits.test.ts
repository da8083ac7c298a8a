import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { hashKey } from "../../../src/engines/blobs/object-file.ts";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { openaiClient } from "../../support/agent-chats.ts";
import { chatLine, createBatch, endOf, resultsOf, uploadLines } from "../../support/batch-lines.ts";
import { type EchoChat, startEchoChat } from "../../support/echo-chat.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const model = "admin/echo";
const narrow = "admin/narrow";
let gantry: GantryNode;
let chat: EchoChat;

beforeAll(async () => {
  chat = await startEchoChat();
  gantry = await startGantry();
  await createModels(gantry, {
    echo: chatModel(chat.url, { capacity: 20, pricing: { per_request: 0.1 } }),
    narrow: chatModel(chat.url, { capacity: 2 }),
    // Reserves $0.50 a line and charges $0.01.
    reserving: chatModel(chat.url, {
      capacity: 20,
      pricing: { per_million_output_tokens: 2_000 },
      max_output_tokens: 250,
    }),
  });
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await chat.close();
});
beforeEach(() => {
  chat.asked.clear();
  chat.pause = async () => {};
});
afterEach(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
});

const linesOf = (name: string, count: number, of = model) =>
  Array.from({ length: count }, (_, n) => chatLine(of, `${name} ${n}`));

const clientOf = async (name: string, options: Parameters<GantryNode["newUser"]>[1] = {}) =>
  openaiClient(gantry, await gantry.newUser(name, options));

/** Answers wait until they are released. */
function gate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  chat.pause = () => promise;
  return resolve;
}

/** The first call is answered, and the others when they are released. */
function gateAfterFirst(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  chat.pause = () => (calls++ === 0 ? Promise.resolve() : promise);
  return resolve;
}

test("when the money ends, the rest of the lines says so", async () => {
  const poor = await clientOf("poor", { credit: 1 });
  const batch = await endOf(poor, (await createBatch(poor, linesOf("poor", 40))).id);
  expect(batch.status).toBe("completed");
  const { total = 0, completed = 0, failed = 0 } = batch.request_counts ?? {};
  // Admission asks for a balance that is not negative, so one more line begins.
  expect([total, completed, completed + failed]).toEqual([40, 11, 40]);
  const errors = await resultsOf(poor, batch.error_file_id);
  expect(errors).toHaveLength(failed);
  for (const one of errors) expect(one).toMatchObject({ response: null, error: { code: "insufficient_quota" } });
  expect(chat.asked.size).toBe(completed);
  expect(await resultsOf(poor, batch.output_file_id)).toHaveLength(completed);
});

test("reservations of lines that run do not end a batch that the balance covers", async () => {
  const user = await clientOf("reserver", { credit: 1 });
  const batch = await endOf(user, (await createBatch(user, linesOf("reserved", 30, "admin/reserving"))).id);
  expect(batch.request_counts).toEqual({ total: 30, completed: 30, failed: 0 });
});

test("money that other work holds delays the lines of a batch, and fails none", async () => {
  const user = await clientOf("holder", { credit: 0.4 });
  const release = gate();
  // Reserves more than there is.
  const held = user.chat.completions.create({
    model: "admin/reserving",
    messages: [{ role: "user", content: "held" }],
  });
  await waitFor("the call", () => chat.asked.has("held"));
  const { id } = await createBatch(user, linesOf("waiting", 3, "admin/reserving"));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await user.batches.retrieve(id)).toMatchObject({ status: "in_progress" });
  release();
  await held;
  expect((await endOf(user, id)).request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
});

test("batches of two users share a model fairly, and a batch queues few lines", async () => {
  const release = gate();
  const [first, second] = await Promise.all([clientOf("first"), clientOf("second")]);
  const long = await createBatch(first, linesOf("long", 300, narrow));
  const waiting = () => gantry.database.sql<{ n: number }[]>`select count(*)::int as n from live_predictions`;
  await waitFor("the first batch to fill its share", async () => (await waiting())[0]?.n === 100);
  const short = await createBatch(second, linesOf("short", 10, narrow));
  await waitFor("the second batch to wait", async () => (await waiting())[0]?.n === 110);
  release();
  const done = await endOf(second, short.id);
  expect(done.request_counts).toMatchObject({ completed: 10 });
  const lastShort = [...chat.asked.keys()].findLastIndex((text) => text.startsWith("short"));
  expect(lastShort).toBeLessThan(60);
  // A fast server may have ended it.
  await first.batches.cancel(long.id).catch((error) => expect(error).toMatchObject({ status: 409 }));
  await endOf(first, long.id);
});

test("a cancelled batch keeps what has ended", async () => {
  const user = await clientOf("canceller");
  const release = gateAfterFirst();
  const made = await createBatch(user, linesOf("cancel", 150, narrow));
  await waitFor("an answer", async () => (await user.batches.retrieve(made.id)).request_counts?.completed === 1);
  expect(await user.batches.cancel(made.id)).toMatchObject({ status: "cancelling" });
  const batch = await endOf(user, made.id);
  release();
  expect(batch).toMatchObject({ status: "cancelled", request_counts: { total: 150, completed: 1, failed: 149 } });
  const [done] = await resultsOf(user, batch.output_file_id);
  const errors = await resultsOf(user, batch.error_file_id);
  const others = Array.from({ length: 150 }, (_, n) => `cancel ${n}`).filter((id) => id !== done?.custom_id);
  expect(errors.map(({ custom_id: id }) => id)).toEqual(others);
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(["batch_cancelled"]));
  await expect(user.batches.cancel(made.id)).rejects.toMatchObject({ status: 409 });
});

test("after the window, lines that have not ended expire", async () => {
  const user = await clientOf("late");
  const release = gateAfterFirst();
  const made = await createBatch(user, linesOf("late", 3, narrow));
  await waitFor("an answer", async () => (await user.batches.retrieve(made.id)).request_counts?.completed === 1);
  await gantry.database.sql`update batches set expires_at = now() where id = ${made.id}`;
  const batch = await endOf(user, made.id);
  release();
  expect(batch).toMatchObject({ status: "expired", request_counts: { total: 3, completed: 1, failed: 2 } });
  expect(batch.expired_at).toBeGreaterThan(0);
  const errors = await resultsOf(user, batch.error_file_id);
  expect(errors.map(({ error }) => error?.code)).toEqual(["batch_expired", "batch_expired"]);
});

test("a result that is deleted while its batch runs is a failed line", async () => {
  const key = await gantry.newUser("deleter");
  const user = openaiClient(gantry, key);
  const release = gateAfterFirst();
  const { id } = await createBatch(user, linesOf("deleted", 3, narrow));
  // No node counts lines meanwhile.
  const hold = () => gantry.database.sql`
    update batches set claim = claim + 1, leased_until = now() + interval '1 minute' where id = ${id}`;
  const ended = () => gantry.database.sql<{ id: string; counted: boolean }[]>`
    select p.id, l.status is not null as counted from ended_predictions p join batch_lines l on l.prediction_id = p.id
    where l.batch_id = ${id}`;
  await waitFor("three lines", async () => chat.asked.size >= 2);
  await hold();
  release();
  await waitFor("the end of all but one", async () => (await ended()).length >= 2);
  const open = (await ended()).find(({ counted }) => !counted);
  const deleted = await gantry.call("DELETE", `/api/v2/predictions/${open?.id}`, { key });
  expect(deleted.status, deleted.text).toBe(204);
  await gantry.database.sql`update batches set leased_until = now() where id = ${id}`;
  const batch = await endOf(user, id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 3, completed: 2, failed: 1 } });
  expect(await resultsOf(user, batch.error_file_id)).toMatchObject([
    { response: null, error: { code: "result_deleted" } },
  ]);
});

test.each(["record", "bytes"])("a batch ends when the %s of its input file are lost", async (lost) => {
  const user = await clientOf(`loser-${lost}`);
  const release = gate();
  const { id, input_file_id } = await createBatch(user, linesOf(`lost ${lost}`, 150, narrow));
  const live = () => gantry.database.sql`select 1 from live_predictions`;
  await waitFor("the batch to fill its share", async () => (await live()).length === 100);
  const [file] = await gantry.database.sql<{ key: string }[]>`select key from files where id = ${input_file_id}`;
  const name = hashKey(file?.key ?? "");
  if (lost === "bytes") await rm(join(gantry.home, "blobs", "gantry", name.charAt(0), name));
  else await gantry.database.sql`update files set purpose = null where id = ${input_file_id}`;
  await gantry.database.sql`update batches set leased_until = now(), claim = claim + 1 where id = ${id}`;
  release();
  const batch = await endOf(user, id);
  // The ids of lines that were never read are not known.
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 150, completed: 100, failed: 0 } });
});

test("a limit of requests a minute delays lines and fails none", async () => {
  const plan = { requests_per_minute: 5, parallel: 2, storage_bytes: null };
  const put = await gantry.call("PUT", "/api/v2/admin/plans/slow", { json: plan });
  expect(put.status, put.text).toBeLessThan(300);
  const user = await clientOf("limited", { plan: "slow" });
  const { id } = await createBatch(user, linesOf("limited", 8, narrow));
  await waitFor(
    "the lines that the minute allows",
    async () => (await user.batches.retrieve(id)).request_counts?.completed === 5,
  );
  const waiting = await gantry.database.sql`select 1 from batch_lines where batch_id = ${id} and status is null`;
  expect(waiting).toHaveLength(3);
  await gantry.database.sql`update plans set requests_per_minute = null where name = 'slow'`;
  // Its node waits for the minute to pass, and another one would not.
  await gantry.database.sql`update batches set leased_until = now(), claim = claim + 1 where id = ${id}`;
  expect(await endOf(user, id)).toMatchObject({ request_counts: { total: 8, completed: 8, failed: 0 } });
});

test("a confined key sees the files and batches that it created", async () => {
  const owner = await gantry.newUser("owner");
  const made = await gantry.call("POST", "/api/v2/keys", { key: owner, json: { name: "app", models: [model] } });
  const [all, app] = [openaiClient(gantry, owner), openaiClient(gantry, made.body.key)];
  const ofOwner = await endOf(all, (await createBatch(all, [chatLine(model, "owner")])).id);
  const ofApp = await endOf(app, (await createBatch(app, [chatLine(model, "app"), chatLine(narrow, "no", "no")])).id);
  expect(ofApp.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  expect((await app.batches.list()).data.map(({ id }) => id)).toEqual([ofApp.id]);
  expect((await all.batches.list()).data.map(({ id }) => id)).toEqual([ofApp.id, ofOwner.id]);
  const files = (await app.files.list()).data.map(({ id }) => id);
  expect(files.sort()).toEqual([ofApp.input_file_id, ofApp.output_file_id, ofApp.error_file_id].sort());
  const stranger = await clientOf("stranger");
  for (const client of [app, stranger]) {
    await expect(client.batches.retrieve(ofOwner.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.batches.cancel(ofOwner.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.content(ofOwner.output_file_id ?? "")).rejects.toMatchObject({ status: 404 });
    await expect(client.files.delete(ofOwner.input_file_id)).rejects.toMatchObject({ status: 404 });
    const reused = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
    const stolen = client.batches.create({ ...reused, input_file_id: ofOwner.input_file_id });
    await expect(stolen).rejects.toMatchObject({ status: 404, param: "input_file_id" });
  }
});

test("lines of a revoked key do not run", async () => {
  const owner = await gantry.newUser("revoker");
  const made = await gantry.call("POST", "/api/v2/keys", { key: owner, json: { name: "short-lived" } });
  const release = gate();
  const { id } = await createBatch(openaiClient(gantry, made.body.key), linesOf("revoked", 150, narrow));
  const live = () => gantry.database.sql`select 1 from live_predictions`;
  await waitFor("the batch to fill its share", async () => (await live()).length === 100);
  await gantry.call("DELETE", `/api/v2/keys/${made.body.id}`, { key: owner });
  release();
  const batch = await endOf(openaiClient(gantry, owner), id);
  expect(batch.request_counts).toMatchObject({ total: 150, completed: 100, failed: 50 });
  const errors = await resultsOf(openaiClient(gantry, owner), batch.error_file_id);
  expect(errors[0]?.error).toMatchObject({ code: "invalid_api_key" });
});

test("input and results count towards the storage quota, and results are never refused", async () => {
  const json = { requests_per_minute: null, parallel: null, storage_bytes: 2_000 };
  await gantry.call("PUT", "/api/v2/admin/plans/small", { json });
  const user = await clientOf("small", { plan: "small" });
  const batch = await endOf(user, (await createBatch(user, linesOf("small", 8))).id);
  expect(batch.request_counts).toMatchObject({ completed: 8 });
  const results = await resultsOf(user, batch.output_file_id);
  expect(results).toHaveLength(8);
  const refused = uploadLines(user, [chatLine(model, "x".repeat(500))]);
  await expect(refused).rejects.toMatchObject({ status: 413 });
});
