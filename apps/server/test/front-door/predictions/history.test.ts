import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deleteOldResults } from "../../../src/features/predictions/index.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import type { GantryNode } from "../../support/gantry.ts";
import { agentModel, chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

let t: AgentRuns;
let gantry: GantryNode;
let users = 0;

beforeAll(async () => {
  t = await startAgentRuns();
  gantry = t.gantry;
  await createModels(gantry, { chat: chatModel(t.llm.url) });
});
afterAll(() => t?.close());

const newUser = async (options = {}) => {
  const name = `person${++users}`;
  return { name, key: await gantry.newUser(name, { credit: 5, ...options }) };
};

const list = async (key: string, query = "") => {
  const answer = await gantry.call("GET", `/api/v2/predictions${query}`, { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const idsOf = ({ results }: { results: { id: string }[] }) => results.map(({ id }) => id);
const read = (id: string, key: string) => gantry.call("GET", `/api/v2/predictions/${id}`, { key });
const erase = (id: string, key: string) => gantry.call("DELETE", `/api/v2/predictions/${id}`, { key });

async function image(key: string, options = {}): Promise<string> {
  const form = { prompt: "a lighthouse", size: "1280x720" };
  const done = await gantry.call("POST", "/api/v1/gantry/image/predict", { key, form, ...options });
  expect(done.status, done.text).toBe(200);
  return done.body.prediction_id;
}

async function say(key: string, prompt = "hello"): Promise<string> {
  t.llm.script = () => ({ text: "done" });
  const { headers } = await gantry.call("POST", "/api/v1/admin/chat/predict/stream/", { key, form: { prompt } });
  return headers.get("x-prediction-id") ?? "";
}

test("predictions are listed newest first, in pages, and filtered", async () => {
  const { key } = await newUser();
  const first = await image(key);
  const second = await say(key);
  t.llm.script = () => ({ status: 400 });
  const failed = await gantry.call("POST", "/api/v1/admin/chat/predict/stream/", { key, form: { prompt: "x" } });
  const third = failed.headers.get("x-prediction-id") ?? "";
  const all = await list(key);
  expect(idsOf(all)).toEqual([third, second, first]);
  expect(all).toMatchObject({ page: 1, page_size: 20, total_count: 3, total_pages: 1, searched_from: null });
  expect(idsOf(await list(key, "?page=2&page_size=2"))).toEqual([first]);
  expect(idsOf(await list(key, "?model=gantry/image"))).toEqual([first]);
  expect(idsOf(await list(key, "?status=failed"))).toEqual([third]);
  expect(idsOf(await list(key, "?status=succeeded&mode=stream"))).toEqual([second]);
  expect(idsOf(await list(key, "?status=running"))).toEqual([]);
  expect(idsOf(await list(key, `?q=${second}`))).toEqual([second]);
  expect(idsOf(await list(key, `?q=${second}&model=gantry/image`))).toEqual([]);
  expect(idsOf(await list(key, `?q=${second.slice(8)}`))).toEqual([second]);
  expect(idsOf(await list(key, "?q=%25"))).toEqual([]);
  expect(idsOf(await list(key, `?key_id=${all.results[0].key.id}`))).toHaveLength(3);
  expect(idsOf(await list(key, `?to_date=${all.results[1].ended_at}`))).toEqual([second, first]);
  expect(idsOf(await list(key, "?to_date=2020-01-01T00:00:00"))).toEqual([]);
  const wrong = await gantry.call("GET", "/api/v2/predictions?state=failed&status=odd&from_date=x", { key });
  expect(wrong.status).toBe(422);
  expect(wrong.body.detail).toHaveLength(3);
});

test("other users see nothing, and a key limited to models sees what it started", async () => {
  const owner = await newUser();
  const stranger = await newUser();
  const made = await gantry.call("POST", "/api/v2/keys", { key: owner.key, json: { models: ["admin/chat"] } });
  const confined = made.body.key;
  const whole = await say(owner.key);
  const own = await say(confined);
  expect(idsOf(await list(owner.key))).toEqual([own, whole]);
  expect(idsOf(await list(confined))).toEqual([own]);
  expect(idsOf(await list(confined, `?q=${whole}`))).toEqual([]);
  expect(idsOf(await list(stranger.key))).toEqual([]);
  for (const key of [stranger.key, confined]) {
    expect((await read(whole, key)).status).toBe(404);
    expect((await erase(whole, key)).status).toBe(404);
  }
  expect((await read(whole, gantry.adminKey)).status).toBe(404);
  expect((await read("pred_nothing", owner.key)).status).toBe(404);
  expect((await read(own, confined)).body.input).toEqual({ prompt: "hello" });
});

test("model calls of a run name the run and its agent, and the run has their contents", async () => {
  const { key } = await newUser();
  t.llm.script = () => ({ text: "CONTENT" });
  const agentId = await t.makeAgent({ name: "Helper", goal: "ASKED" }, { key });
  const run = await t.run(agentId, {}, { key });
  const found = await list(key, `?run_id=${run.body.id}`);
  expect(found.results).toMatchObject([
    {
      mode: "agent",
      run_id: run.body.id,
      agent: { id: agentId, name: "Helper" },
      preview: { input: null, output: null, file: null },
    },
  ]);
  expect(idsOf(await list(key, `?agent_id=${agentId}`))).toEqual(idsOf(found));
  expect(idsOf(await list(key, "?agent_id=agt_other"))).toEqual([]);
  const { body, text } = await read(found.results[0].id, key);
  expect(body).toMatchObject({ input: null, input_state: "not_kept", output: null, run_id: run.body.id });
  expect(text).not.toMatch(/CONTENT|ASKED/);
  expect((await erase(found.results[0].id, key)).status).toBe(409);
});

test("a creator who pays for a call of another user's run sees nothing of that run", async () => {
  const creator = await newUser();
  const caller = await newUser();
  await createModels(gantry, { own: agentModel(t.llm.url, { visibility: "private" }) }, creator);
  t.llm.script = () => ({ text: "CONTENT" });
  const fields = { name: "Shared", goal: "Do {{it}}.", model: `${creator.name}/own`, visibility: "public" };
  const agentId = await t.makeAgent(fields, { key: creator.key });
  const run = await t.run(agentId, { input: { it: "ASKED" } }, { key: caller.key });
  expect(run.body.status, run.text).toBe("done");
  const found = await list(creator.key);
  expect(found.results).toMatchObject([
    { model_name: `${creator.name}/own`, key: null, run_id: null, agent: { id: agentId } },
  ]);
  const shown = await read(found.results[0].id, creator.key);
  expect(shown.body).toMatchObject({ input: null, output: null, request_id: null, run_id: null });
  expect(shown.text + JSON.stringify(found)).not.toMatch(/CONTENT|ASKED|run_0/);
  expect(idsOf(await list(caller.key))).toEqual([]);
});

test("deleting removes every content, keeps the charge, and is not undone by a repeat", async () => {
  const { key } = await newUser();
  const keyed = { headers: { "idempotency-key": "again-1", "x-request-id": "my-request-0003" } };
  const id = await image(key, keyed);
  const before = (await read(id, key)).body;
  const spent = (await gantry.call("GET", "/api/v2/me", { key })).body.balance;
  expect((await erase(id, key)).status).toBe(204);
  expect((await erase(id, key)).status).toBe(204);
  const { body: after, text } = await read(id, key);
  const { price, created_at, started_at, ended_at } = before;
  expect(after).toMatchObject({ status: "succeeded", price, created_at, started_at, request_id: "my-request-0003" });
  expect(Date.parse(after.ended_at)).toBeCloseTo(Date.parse(ended_at), -2);
  expect(after).toMatchObject({
    input: null,
    input_state: "deleted",
    output: null,
    files: {},
    preview: { file: null },
  });
  expect(text).not.toContain("lighthouse");
  expect((await list(key)).results).toMatchObject([{ id, price, preview: { input: null, output: null, file: null } }]);
  expect((await fetch(before.preview.file.link)).status).toBe(404);
  expect((await gantry.call("GET", "/api/v2/files", { key })).body.results).toEqual([]);
  const result = `/api/v1/gantry/image/predict/async/result/?request_id=${id}`;
  expect((await gantry.call("GET", result, { key })).status).toBe(404);
  const form = { prompt: "a lighthouse", size: "1280x720" };
  const repeat = await gantry.call("POST", "/api/v1/gantry/image/predict", { key, form, ...keyed });
  expect([repeat.status, repeat.body.detail]).toEqual([404, "Prediction not found"]);
  expect((await gantry.call("GET", "/api/v2/me", { key })).body.balance).toBe(spent);
  expect((await gantry.call("GET", "/api/v2/usage", { key })).body.results).toMatchObject([{ request_id: id, price }]);
});

test.each(["z", "0"])("a prediction whose id is of another age, %s, is not found", async (digit) => {
  const { key } = await newUser();
  const id = `pred_${digit.repeat(26)}`;
  expect([await read(id, key), await erase(id, key)]).toMatchObject([{ status: 404 }, { status: 404 }]);
  expect((await list(key, `?q=${id}`)).results).toEqual([]);
});

test("deleting removes the payload of a webhook, and a stored response", async () => {
  const { key } = await newUser();
  t.llm.script = () => ({ text: "CONTENT" });
  const receiver = createServer((_request, response) => void response.writeHead(500).end("ECHO"));
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  try {
    const form = { prompt: "hello", webhook: JSON.stringify({ url }) };
    const { body } = await gantry.call("POST", "/api/v1/admin/chat/predict/async/", { key, form });
    const id = body.prediction_id;
    await waitFor("the end", async () => (await read(id, key)).body.webhook !== null);
    const { delivery_id } = (await read(id, key)).body.webhook;
    expect((await erase(id, key)).status).toBe(204);
    const [row] = await gantry.database.sql`select payload, status from webhook_deliveries where id = ${delivery_id}`;
    expect(row).toEqual({ payload: "", status: "failed" });
    const resent = await gantry.call("POST", `/api/v2/webhooks/deliveries/${delivery_id}/resend`, { key });
    expect(resent.status).toBe(409);
  } finally {
    receiver.close();
  }
  const stored = await gantry.call("POST", "/v1/responses", {
    key,
    json: { model: "admin/chat", input: "ASKED", stream: true },
  });
  const predictionId = stored.headers.get("x-gantry-prediction-id") ?? "";
  const responseId = `resp_${predictionId.slice(5)}`;
  expect((await gantry.call("GET", `/v1/responses/${responseId}`, { key })).status).toBe(200);
  expect((await read(predictionId, key)).body.input.messages).toMatchObject([{ role: "user", content: "ASKED" }]);
  expect((await erase(predictionId, key)).status).toBe(204);
  expect((await gantry.call("GET", `/v1/responses/${responseId}`, { key })).status).toBe(404);
});

test("deleting a stored response deletes the input of its prediction", async () => {
  const { key } = await newUser();
  t.llm.script = () => ({ text: "CONTENT" });
  const json = { model: "admin/chat", input: "ASKED", stream: true };
  const { headers } = await gantry.call("POST", "/v1/responses", { key, json });
  const id = headers.get("x-gantry-prediction-id") ?? "";
  expect((await gantry.call("DELETE", `/v1/responses/resp_${id.slice(5)}`, { key })).status).toBe(200);
  const { body, text } = await read(id, key);
  expect(body).toMatchObject({ input: null, input_state: "deleted", output: null });
  expect(text).not.toMatch(/ASKED|CONTENT/);
});

test("the text of a cancelled stream is shown", async () => {
  const { key } = await newUser();
  t.llm.script = () => ({ text: "The beginning", hangs: true });
  const leaving = new AbortController();
  const answer = await gantry.fetch("POST", "/api/v1/admin/chat/predict/stream/", {
    key,
    form: { prompt: "hello" },
    signal: leaving.signal,
  });
  const id = answer.headers.get("x-prediction-id") ?? "";
  const reader = answer.body?.getReader();
  for (let seen = ""; !seen.includes("beginning"); )
    seen += Buffer.from((await reader?.read())?.value ?? []).toString();
  expect((await read(id, key)).body).toMatchObject({ status: "running", input: null, input_state: "pending" });
  leaving.abort();
  await waitFor("the end", async () => (await read(id, key)).body.status === "cancelled");
  expect((await read(id, key)).body).toMatchObject({
    status_code: 499,
    text: "The beginning",
    input: { prompt: "hello" },
    input_state: "kept",
  });
});

test("after results expire, the figures remain", async () => {
  const { key } = await newUser();
  const id = await image(key);
  const { price, model_name } = (await read(id, key)).body;
  const blobs = { delete: async () => {} } as unknown as Parameters<typeof deleteOldResults>[0]["blobs"];
  await deleteOldResults({ database: gantry.database, blobs }, new Date(Date.now() + 60_000));
  const { body } = await read(id, key);
  expect(body).toMatchObject({ id, price, model_name, status: "succeeded", input: null, input_state: "expired" });
  expect(Math.abs(Date.parse(body.created_at) - Date.parse(body.ended_at))).toBeLessThan(60_000);
  expect((await list(key)).results).toMatchObject([{ id, price }]);
  expect(idsOf(await list(key, `?q=${id}`))).toEqual([id]);
});
