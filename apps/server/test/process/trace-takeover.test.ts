import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call, putModel, textModel } from "../proof/client.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** A trace is read through one process while the process that works on the run is killed. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let chat: ChatServer;
let cluster: Cluster;
const takeoverMs = 60_000;

beforeAll(async () => {
  [own, chat] = await Promise.all([testDatabase(), startChatServer()]);
  const nodes = { reader: { GANTRY_ROLE: "api" }, one: { GANTRY_ROLE: "worker" }, two: { GANTRY_ROLE: "worker" } };
  cluster = await startCluster({ databaseUrl: own.url, nodes });
  const backend = { type: "openai-chat", url: chat.url, model: "test" };
  await putModel(cluster.node("reader").url, "llm", { capacity: 8, ...textModel, backend });
  await cluster.node("two").kill();
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await chat.close();
  await own.drop();
}, 60_000);

test("the call of the killed node is shown as failed, the repeated one as done", async () => {
  const { url } = cluster.node("reader");
  const json = { name: "Writer", goal: "Write.", tools: [], model: "admin/llm" };
  const agent = (await call(url, "POST", "/v1/agents", { json })).body.id;
  expect((await call(url, "POST", `/v1/agents/${agent}/publish`, { json: {} })).status).toBe(200);
  const id = (await call(url, "POST", `/v1/agents/${agent}/runs`, { json: { input: {} } })).body.id;
  const models = async () =>
    (await call(url, "GET", `/v1/runs/${id}/trace`)).body.steps.filter(
      ({ kind }: { kind: string }) => kind === "model",
    );
  await waitFor("the call of the model", () => chat.open === 1, takeoverMs);
  chat.say("One ");
  const [before] = await models();
  expect(before).toMatchObject({ status: "running", ended_at: null });
  await cluster.node("one").kill();
  await waitFor("the end of the call", () => chat.open === 0);
  await cluster.node("two").start();
  await waitFor("the call of the other node", () => chat.open === 1, takeoverMs);
  expect((await models()).map(({ status }: { status: string }) => status)).toEqual(["error", "running"]);
  chat.say("One two.");
  chat.end({ prompt_tokens: 5, completion_tokens: 2 });
  const ended = (await call(url, "GET", `/v1/runs/${id}?wait=30`)).body;
  expect(ended).toMatchObject({ status: "done", output: { text: "One two." } });
  const [lost, made] = await models();
  expect(lost).toMatchObject({ id: before.id, status: "error", cost: 0, duration_ms: expect.any(Number) });
  expect(made).toMatchObject({ status: "done", purpose: "working", summary: "One two." });
  expect(made.usage).toMatchObject({ input_tokens: 5, output_tokens: 2 });
  const wall = Date.parse(ended.completed_at) - Date.parse(ended.created_at);
  expect(ended.worked_ms + ended.waited_ms).toBe(wall);
  expect(await verifyLedger(own.database)).toEqual([]);
}, 180_000);
