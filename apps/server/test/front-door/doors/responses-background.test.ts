import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The client talks to a node that runs no queued predictions. */
let gantry: GantryNode;
let worker: GantryNode;
let llm: ScriptedLlm;
let chat: ChatServer;
let client: OpenAI;
const model = "admin/llm";

beforeAll(async () => {
  llm = await startScriptedLlm();
  chat = await startChatServer();
  gantry = await startGantry({ env: { GANTRY_ROLE: "api" } });
  worker = await startGantry({ beside: gantry, env: { GANTRY_ROLE: "worker" } });
  await createModels(gantry, { llm: agentModel(llm.url), live: agentModel(chat.url) });
  client = openaiClient(gantry, gantry.adminKey);
}, 60_000);

afterAll(async () => {
  await worker.close();
  await gantry.close();
  await llm.close();
  await chat.close();
});

async function ended(id: string): Promise<OpenAI.Responses.Response> {
  let response = await client.responses.retrieve(id);
  await waitFor(
    "the end of the response",
    async () => {
      response = await client.responses.retrieve(id);
      return response.status !== "queued" && response.status !== "in_progress";
    },
    15_000,
  );
  return response;
}

const usageOf = (id: string) => gantry.database.sql`
  select route, door, status, price_micros > 0 as charged from usage where request_id = ${id.replace("resp", "pred")}`;

test("a response is queued, run by a worker, charged once, and continued", async () => {
  llm.script = inTurn(
    { reasoning: "Hm.", text: "Slow answer.", calls: [{ name: "look", args: { a: 1 } }], usage: { in: 10, out: 5 } },
    { text: "Continued." },
  );
  const tools = [{ type: "function" as const, name: "look", parameters: {}, strict: false }];
  const made = await client.responses.create({ model, input: "Take your time.", background: true, tools });
  expect(made).toMatchObject({ status: "queued", background: true, output: [] });
  const done = await ended(made.id);
  expect(done).toMatchObject({
    id: made.id,
    status: "completed",
    output_text: "Slow answer.",
    created_at: made.created_at,
  });
  expect(done.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  expect(done.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
  expect(await usageOf(made.id)).toEqual([{ route: "async", door: "openai-responses", status: 200, charged: true }]);
  const call = done.output.find((item) => item.type === "function_call");
  const result = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "ok" };
  await client.responses.create({ model, previous_response_id: made.id, input: [result], tools });
  expect(llm.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("a response that is read late shows when it ended", async () => {
  llm.script = () => ({ text: "Done." });
  const made = await client.responses.create({ model, input: "Quick.", background: true });
  const id = made.id.replace("resp", "pred");
  await waitFor(
    "the end of the prediction",
    async () => {
      const rows = await gantry.database.sql`
      update ended_predictions set ended_at = ended_at - interval '1 hour' where id = ${id} returning 1`;
      return rows.length > 0;
    },
    15_000,
  );
  const { completed_at: completedAt } = await client.responses.retrieve(made.id);
  expect(Date.now() / 1000 - Number(completedAt)).toBeGreaterThan(3_500);
});

test("a running response shows its state, cannot be continued yet, and is cancelled", async () => {
  const made = await client.responses.create({ model: "admin/live", input: "Long.", background: true });
  await waitFor("the upstream call", () => chat.open === 1, 15_000);
  expect((await client.responses.retrieve(made.id)).status).toBe("in_progress");
  const early = client.responses.create({ model, input: "More.", previous_response_id: made.id });
  await expect(early).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
  chat.say("Some ", "words");
  expect(await client.responses.cancel(made.id)).toMatchObject({ id: made.id, status: "cancelled" });
  await waitFor("the upstream to be stopped", () => chat.open === 0);
  expect(await client.responses.cancel(made.id)).toMatchObject({ status: "cancelled" });
  expect(await usageOf(made.id)).toMatchObject([{ status: 499 }]);
});

test("a response that fails says why", async () => {
  llm.script = () => ({ status: 500 });
  const made = await client.responses.create({ model, input: "Fail.", background: true });
  expect(await ended(made.id)).toMatchObject({ status: "failed", error: { code: "server_error" } });
  expect(await usageOf(made.id)).toMatchObject([{ charged: false }]);
});

test("a large conversation waits in the file store, and leaves it", async () => {
  llm.script = () => ({ text: "Read." });
  const input = "word ".repeat(20_000);
  const { id } = await client.responses.create({ model, input, background: true });
  expect((await ended(id)).output_text).toBe("Read.");
  expect(llm.requests.at(-1)?.messages).toEqual([{ role: "user", content: input }]);
  const [row] = await gantry.database.sql<{ n: number }[]>`
    select count(*)::int as n from live_predictions where id = ${id.replace("resp", "pred")}`;
  expect(row?.n).toBe(0);
});

test("a repeat of an Idempotency-Key gets the same response", async () => {
  llm.script = () => ({ text: "Once." });
  const headers = { "Idempotency-Key": "background-once" };
  const body = { model, input: "Once?", background: true };
  const first = await client.responses.create(body, { headers });
  expect((await client.responses.create(body, { headers })).id).toBe(first.id);
  await ended(first.id);
  expect(await client.responses.create(body, { headers })).toMatchObject({ id: first.id, output_text: "Once." });
  expect(await usageOf(first.id)).toHaveLength(1);
});

test("a deleted response is cancelled", async () => {
  const { id } = await client.responses.create({ model: "admin/live", input: "Delete me.", background: true });
  await waitFor("the upstream call", () => chat.open === 1, 15_000);
  await client.responses.delete(id);
  await waitFor("the upstream to be stopped", () => chat.open === 0);
  await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
});

test("a refused response leaves nothing behind", async () => {
  llm.script = () => ({ text: "The last one." });
  const poor = openaiClient(gantry, await gantry.newUser("poor", { credit: 0 }));
  await poor.responses.create({ model, input: "Hi.", store: false });
  await expect(poor.responses.create({ model, input: "Hi.", background: true })).rejects.toMatchObject({ status: 402 });
  const rows = await gantry.database.sql`
    select 1 from responses r join users u on u.id = r.user_id where u.username like 'poor%'`;
  expect(rows).toHaveLength(0);
});

test.each([
  ["streamed", { stream: true }, "stream"],
  ["not stored", { store: false }, "background"],
])("a background response cannot be %s", async (_, fields, param) => {
  const answer = await gantry.call("POST", "/v1/responses", {
    json: { model, input: "x", background: true, ...fields },
  });
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});

test("an answer that was not queued cannot be cancelled", async () => {
  llm.script = () => ({ text: "Done." });
  const { id } = await client.responses.create({ model, input: "Hi." });
  await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
});

test("nodes of the version before do not claim a conversation", async () => {
  llm.script = () => ({ text: "By the new version." });
  await gantry.database.sql`update nodes set runs_chats = false`;
  const { id } = await client.responses.create({ model, input: "Wait.", background: true });
  const plain = await gantry.call("POST", "/api/v1/admin/llm/predict/async/", { form: { prompt: "Go." } });
  expect(plain.status).toBe(200);
  const predictionId: string = plain.body.prediction_id;
  await waitFor(
    "another prediction to end",
    async () => (await gantry.database.sql`select 1 from ended_predictions where id = ${predictionId}`).length === 1,
    15_000,
  );
  expect((await client.responses.retrieve(id)).status).toBe("queued");
  await gantry.database.sql`update nodes set runs_chats = true`;
  expect((await ended(id)).output_text).toBe("By the new version.");
}, 60_000);
