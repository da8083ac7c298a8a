import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call } from "../proof/client.ts";
import { chatLine, createBatch, endOf, resultsOf } from "../support/batch-lines.ts";
import { type Cluster, clusterAdminKey, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { type EchoChat, startEchoChat } from "../support/echo-chat.ts";
import { chatModel } from "../support/models.ts";
import { waitFor } from "../support/wait-for.ts";

/** The server that works on a batch is killed, and the other one takes over. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let chat: EchoChat;
let cluster: Cluster;
let home: string;
const lines = 400;
const patienceMs = 120_000;

beforeAll(async () => {
  [own, chat] = await Promise.all([testDatabase(), startEchoChat()]);
  // Both servers store files in one folder.
  home = await mkdtemp(join(tmpdir(), "gantry-batches-"));
  cluster = await startCluster({ databaseUrl: own.url, env: { GANTRY_HOME: home }, nodes: { one: {}, two: {} } });
  const pricing = { per_request: 0.001, batch_factor: 0.5 };
  const json = chatModel(chat.url, { capacity: 10, pricing });
  const made = await call(cluster.node("one").url, "PUT", "/api/v1/admin/echo", { json });
  expect(made.status, made.text).toBeLessThan(300);
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await chat?.close();
  await own?.drop();
  await rm(home, { recursive: true, force: true });
}, 60_000);

const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: clusterAdminKey });

test("every line has one result and one charge, whichever server is killed", async () => {
  // The last lines are answered after the kills, however fast the servers are.
  const kills = Promise.withResolvers<void>();
  let begun = 0;
  chat.pause = async () => {
    const isLate = ++begun > 300;
    await sleep(100);
    if (isLate) await kills.promise;
  };
  const { sql } = own.database;
  const [one, two] = [cluster.node("one"), cluster.node("two")];
  const all = Array.from({ length: lines }, (_, n) => chatLine("admin/echo", `line ${n}`));
  const { id } = await createBatch(clientOf(one.url), all);
  const ended = async () =>
    Number((await sql`select completed + failed as n from batches where id = ${id}`)[0]?.n ?? 0);
  for (const [after, node] of [
    [30, one],
    [150, two],
  ] as const) {
    await waitFor(`${after} lines`, async () => (await ended()) >= after, patienceMs);
    await node.kill();
    expect(await ended()).toBeLessThan(lines);
    if (node === two) kills.resolve();
    await node.start();
  }
  const batch = await endOf(clientOf(two.url), id, patienceMs);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: lines, completed: lines, failed: 0 } });
  const results = await resultsOf(clientOf(one.url), batch.output_file_id);
  expect(results.map(({ custom_id: line }) => line)).toEqual(all.map((_, n) => `line ${n}`));
  for (const { custom_id: text, response } of results)
    expect(response?.body.choices[0].message.content).toBe(`echo ${text}`);
  const [usage] = await sql`
    select count(*)::int as n, count(distinct request_id)::int as predictions, sum(price_micros)::int as price from usage`;
  expect(usage).toEqual({ n: lines, predictions: lines, price: lines * 500 });
  // Only calls that a kill has interrupted are repeated: at most the capacity of the model at each.
  const calls = [...chat.asked.values()].reduce((sum, times) => sum + times, 0);
  expect(chat.asked.size).toBe(lines);
  expect(calls).toBeLessThanOrEqual(lines + 2 * 10);
  expect([one.crashes, two.crashes]).toEqual([[], []]);
  expect(await verifyLedger(own.database)).toEqual([]);
}, 300_000);
