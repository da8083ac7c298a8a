import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import type { Answer } from "../../support/gantry.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

// What a confined key can reach. access-table.test.ts lists what it cannot.

let t: AgentRuns;
/** The owner's own key, and the keys of two applications, confined to the same models. */
let whole: { key: string };
let shop: { key: string };
let forum: { key: string };
let shopId: string;
const models = ["admin/llm", "gantry/image"];

beforeAll(async () => {
  t = await startAgentRuns();
  whole = { key: await t.gantry.newUser("alice") };
  const made = await t.gantry.call("POST", "/api/v2/keys", { ...whole, json: { name: "shop", models } });
  shop = { key: made.body.key };
  shopId = made.body.id;
  forum = { key: (await t.gantry.call("POST", "/api/v2/keys", { ...whole, json: { models } })).body.key };
});
afterAll(() => t.close());

const get = (path: string, by: { key: string }) => t.gantry.call("GET", path, by);
const post = (path: string, by: { key: string }, more: object = {}) => t.gantry.call("POST", path, { ...by, ...more });
const resultOf = (id: string, more = "") => `/api/v1/admin/llm/predict/async/result/?request_id=${id}${more}`;
const prediction = async (by: { key: string }, form: Record<string, string> = { prompt: "hello" }) =>
  (await post("/api/v1/admin/llm/predict/async/", by, { form })).body.prediction_id as string;
const paint = (by: { key: string }, form: Record<string, string> = {}) =>
  post("/api/v1/gantry/image/predict", by, { form: { prompt: "a barn", size: "1280x720", ...form } });
const idsOf = (answer: Answer, name: string) => answer.body.results.map((one: Answer["body"]) => one[name]);
const askingAgent = () => t.makeAgent({ tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] }, whole);
const asks = () => {
  t.llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] }, { text: "done" });
};

describe("predictions", () => {
  test("are read and followed by the key that started them and by the owner, not by another application", async () => {
    t.llm.script = () => ({ text: "for the shop" });
    const id = await prediction(shop);
    for (const by of [shop, whole]) {
      expect((await get(resultOf(id, "&wait=30"), by)).text).toContain("for the shop");
      const lines = await t.gantry.call("GET", resultOf(id), { ...by, headers: { accept: "application/x-ndjson" } });
      expect(lines.text).toContain("shop");
    }
    const lines = { headers: { accept: "application/x-ndjson" } };
    for (const answer of [
      await get(resultOf(id), forum),
      await t.gantry.call("GET", resultOf(id), { ...forum, ...lines }),
    ]) {
      expect([answer.status, answer.body.detail]).toEqual([404, "Prediction not found"]);
    }
  });

  test("are cancelled only by the key that started them", async () => {
    t.llm.script = () => ({ text: "slowly", hangs: true });
    const id = await prediction(shop);
    await waitFor("the call to begin", async () => t.llm.open > 0);
    const cancel = (by: { key: string }) => post(`/api/v1/admin/llm/predict/cancel/?prediction_id=${id}`, by);
    expect((await cancel(forum)).status).toBe(404);
    expect((await get(resultOf(id), shop)).body.inference_responses[0].infer_details.status).toBe(202);
    expect((await cancel(shop)).body).toMatchObject({ status: 499 });
  });

  test("of one application are not replayed to another with the same Idempotency-Key", async () => {
    const headers = { "idempotency-key": "order-1" };
    t.llm.script = () => ({ text: "done" });
    const send = async (by: { key: string }) =>
      (await post("/api/v1/admin/llm/predict/async/", by, { form: { prompt: "x" }, headers })).body.prediction_id;
    const first = await send(shop);
    expect(await send(shop)).toBe(first);
    const other = await send(forum);
    expect([typeof other, other === first]).toEqual(["string", false]);
  });

  test("appear in the usage and expenses of their key and of their owner", async () => {
    t.llm.script = () => ({ text: "done" });
    for (const by of [shop, forum]) await get(resultOf(await prediction(by), "&wait=30"), by);
    const before = (await get("/api/v2/usage", shop)).body.total_count;
    const id = await prediction(shop);
    await get(resultOf(id, "&wait=30"), shop);
    const listed = await get("/api/v2/usage?page_size=1", shop);
    expect(listed.body.total_count).toBe(before + 1);
    expect(idsOf(listed, "request_id")).toEqual([id]);
    const csv = await t.gantry.call("GET", "/api/v2/usage", { ...shop, headers: { accept: "text/csv" } });
    expect(csv.text.trim().split("\n")).toHaveLength(before + 2);
    const owners = await get("/api/v2/usage?page_size=100", whole);
    expect(owners.body.total_count).toBeGreaterThan(before + 1);
    const spent = async (by: { key: string }) => (await get("/alice/expenses", by)).body;
    const sum = async (by: { key: string }) =>
      (await get("/api/v2/usage?page_size=100", by)).body.results.reduce(
        (total: number, { price }: { price: number }) => total + Math.round(price * 1e6),
        0,
      ) / 1e6;
    for (const by of [shop, forum, whole]) expect((await spent(by)).total_spent).toBeCloseTo(await sum(by), 6);
  });

  test("have webhook deliveries that their key lists and resends", async () => {
    t.llm.script = () => ({ text: "done" });
    const id = await prediction(shop, { prompt: "x", webhook: JSON.stringify({ url: "http://127.0.0.1:9/hook" }) });
    await get(resultOf(id, "&wait=30"), shop);
    const listed = await get("/api/v2/webhooks/deliveries", shop);
    expect(idsOf(listed, "prediction_id")).toEqual([id]);
    const { id: delivery } = listed.body.results[0];
    expect((await get("/api/v2/webhooks/deliveries", forum)).body.total_count).toBe(0);
    expect((await get(`/api/v2/webhooks/deliveries?prediction_id=${id}`, forum)).body.total_count).toBe(0);
    expect((await post(`/api/v2/webhooks/deliveries/${delivery}/resend`, forum)).status).toBe(404);
    expect((await post(`/api/v2/webhooks/deliveries/${delivery}/resend`, shop)).status).toBe(200);
  });
});

describe("files", () => {
  const sign = (s3Path: string, by: { key: string }) =>
    get(`/api/v1/gantry/image/download_s3_url?s3_path_to_sign=${encodeURIComponent(s3Path)}`, by);

  test("uploaded or produced by a key are listed, signed, used and deleted by that key, not by another application", async () => {
    const output = Object.values((await paint(shop)).body.output_data)[0] as string;
    const png = await (await t.gantry.fetch("GET", (await sign(output, shop)).body.url)).blob();
    const sent = await post("/api/v1/gantry/image/upload_file", shop, { form: { file: png } });
    const uploaded = sent.body.file_input.s3_path as string;
    const link = (await get("/api/v1/gantry/image/upload_url", shop)).body.file_input.s3_path as string;
    const listed = await get("/api/v2/files?page_size=100", shop);
    for (const path of [output, uploaded, link]) expect(idsOf(listed, "s3_path")).toContain(path);
    expect(listed.body.total_count).toBe(listed.body.results.length);
    for (const path of [output, uploaded]) {
      expect([(await sign(path, shop)).status, (await sign(path, whole)).status]).toEqual([200, 200]);
      expect([(await sign(path, forum)).status, (await paint(forum, { image: path })).status]).toEqual([404, 422]);
    }
    expect((await paint(shop, { image: uploaded })).status).toBe(200);
    expect(idsOf(await get("/api/v2/files?page_size=100", forum), "s3_path")).not.toContain(output);
    const { id } = listed.body.results.find((one: Answer["body"]) => one.s3_path === uploaded);
    expect((await t.gantry.call("DELETE", `/api/v2/files/${id}`, forum)).status).toBe(404);
    expect((await t.gantry.call("DELETE", `/api/v2/files/${id}`, shop)).status).toBe(204);
  });
});

describe("agents", () => {
  const secrets = ["planted goal", "planted instruction", "Bearer planted", "drv_"];

  test("are cards without goal, tools and drives, and run with all their parts", async () => {
    const drive = (await post("/v1/drives", whole, { json: { name: "Papers" } })).body.id;
    const file = new Blob(["the plan"], { type: "text/plain" });
    await post(`/v1/drives/${drive}/files`, whole, { form: { path: "/s.txt", file } });
    const fixed = { url: "http://127.0.0.1:9/", headers: { authorization: "Bearer planted" } };
    const id = await t.makeAgent(
      {
        goal: "planted goal",
        instructions: { tool_calling: "planted instruction" },
        tools: ["drive_read", { type: "tool", id: "http_request", arguments: fixed }],
        drives: [drive],
      },
      whole,
    );
    const listed = await get("/v1/agents?limit=100", shop);
    const read = await get(`/v1/agents/${id}`, shop);
    expect(listed.body.agents).toContainEqual(read.body);
    expect(read.body).toMatchObject({ id, owner: "alice", status: "published", visibility: "private" });
    const tools = await post("/mcp", shop, {
      json: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { accept: "application/json, text/event-stream" },
    });
    expect(tools.text).toContain(read.body.slug.replaceAll("-", "_").slice(0, 5));
    for (const text of [listed.text, read.text, tools.text]) for (const one of secrets) expect(text).not.toContain(one);
    t.llm.requests.length = 0;
    t.llm.script = inTurn({ calls: [{ name: "drive_read", args: { path: "/s.txt" } }] }, { text: "done" });
    expect((await t.run(id, {}, shop)).body).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("the plan");
    const draft = (await t.gantry.call("PATCH", `/v1/agents/${id}`, { ...whole, json: { goal: "planted goal 2" } }))
      .body;
    const chosen = await post(`/v1/agents/${id}/runs`, shop, {
      json: { input: {}, revision_id: draft.latest_revision_id },
    });
    expect([chosen.status, chosen.body.error.message]).toEqual([403, expect.stringContaining("Leave revision_id out")]);
  });

  test("that it cannot run are not found, unless they are public", async () => {
    const onOther = await t.makeAgent({ model: "gantry/rules" }, whole);
    const draft = (
      await post("/v1/agents", whole, { json: { name: "Draft", goal: "x", tools: [], model: "admin/llm" } })
    ).body.id;
    for (const id of [onOther, draft, "agt_01hzzzzzzzzzzzzzzzzzzzzzzz"]) {
      for (const answer of [
        await get(`/v1/agents/${id}`, shop),
        await t.run(id, {}, shop),
        await get(`/v1/agents/${id}/runs`, shop),
      ]) {
        expect([answer.status, answer.body.error?.message]).toEqual([404, "Agent not found"]);
      }
    }
    const open = await t.makeAgent({ model: "gantry/rules", visibility: "public" }, whole);
    expect((await get(`/v1/agents/${open}`, shop)).body).toMatchObject({ id: open, visibility: "public" });
    expect((await t.run(open, {}, shop)).status).toBe(403);
    const listed = (await get("/v1/agents?limit=100", shop)).body.agents.map(({ id }: { id: string }) => id);
    for (const id of [onOther, draft, open]) expect(listed).not.toContain(id);
  });
});

describe("runs", () => {
  test("of another key are not found on any route", async () => {
    asks();
    const agent = await askingAgent();
    const { runId, asked } = await t.runUntilAsked(agent, {}, forum);
    const run = `/v1/runs/${runId}`;
    for (const [method, path] of [
      ["GET", run],
      ["GET", `${run}/events`],
      ["GET", `${run}/events/list`],
      ["GET", `${run}/confirmations`],
      ["POST", `${run}/cancel`],
      ["POST", `${run}/confirmations/${asked.id}`],
    ] as const) {
      const answer = await t.gantry.call(method, path, {
        ...shop,
        ...(method === "POST" && { json: { approve: true } }),
      });
      expect([answer.status, answer.body.error?.message], path).toEqual([404, "Run not found"]);
    }
    expect((await get(`/v1/agents/${agent}/runs`, shop)).body).toMatchObject({ runs: [], total: 0 });
    expect((await get(`/v1/agents/${agent}/runs`, forum)).body.total).toBe(1);
    expect((await get("/v1/runs", shop)).body.runs.map(({ id }: { id: string }) => id)).not.toContain(runId);
    // The owner answers with another key.
    expect((await t.answer(runId, asked.id, { approve: true }, whole)).status).toBe(200);
    expect(await t.ended(runId, forum)).toMatchObject({ status: "done" });
  });

  test("that others start of its owner's agents are visible to the owner, not to the key", async () => {
    const bob = { key: await t.gantry.newUser("bob") };
    const agent = await t.makeAgent({ visibility: "public" }, whole);
    const runId = (await t.run(agent, {}, bob)).body.id;
    expect((await get(`/v1/runs/${runId}`, whole)).status).toBe(200);
    expect((await get(`/v1/runs/${runId}`, shop)).status).toBe(404);
    expect((await get(`/v1/agents/${agent}/runs`, whole)).body.total).toBe(1);
    expect((await get(`/v1/agents/${agent}/runs`, shop)).body.total).toBe(0);
  });

  test("that it started can be followed and answered, also for sub-agents and after a rotation", async () => {
    const child = await askingAgent();
    const parent = await t.makeAgent({ tools: [{ type: "agent", agent_id: child, name: "child" }] }, whole);
    t.llm.script = inTurn(
      { calls: [{ name: "child", args: {} }] },
      { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] },
      { text: "done" },
    );
    const { runId, asked } = await t.runUntilAsked(parent, {}, shop);
    expect((await get(`/v1/runs?parent_run_id=${runId}`, shop)).body.runs).toMatchObject([{ id: asked.run_id }]);
    const rotated = await post(`/api/v2/keys/${shopId}/rotate`, shop, { json: {} });
    expect(rotated.status, rotated.text).toBe(200);
    expect((await t.answer(runId, asked.id, { approve: true }, shop)).status).toBe(401);
    shop = { key: rotated.body.key };
    expect((await t.answer(runId, asked.id, { approve: true }, shop)).body).toMatchObject({ status: "approved" });
    expect(await t.ended(runId, shop)).toMatchObject({ status: "done" });
    expect((await t.events(runId, shop)).map(({ type }) => type)).toContain("completed");
    expect((await t.answer(runId, asked.id, { approve: true }, shop)).status).toBe(409);
  });

  test("are not replayed to another application with the same Idempotency-Key", async () => {
    t.llm.script = () => ({ text: "done" });
    const agent = await t.makeAgent({}, whole);
    const create = (by: { key: string }) =>
      post(`/v1/agents/${agent}/runs`, by, { json: { input: {}, wait: 30 }, headers: { "idempotency-key": "one" } });
    const first = (await create(shop)).body.id;
    expect([(await create(shop)).body.id, (await create(forum)).body.id === first]).toEqual([first, false]);
  });
});

test("a confined key can read, rotate and revoke only itself", async () => {
  const { body } = await post("/api/v2/keys", whole, { json: { models: ["gantry/image"] } });
  const own = { key: body.key as string };
  expect(idsOf(await get("/api/v2/keys", own), "id")).toEqual([body.id]);
  for (const [method, path] of [
    ["DELETE", `/api/v2/keys/${shopId}`],
    ["POST", `/api/v2/keys/${shopId}/rotate`],
  ] as const) {
    const answer = await t.gantry.call(method, path, own);
    expect([answer.status, answer.body.detail]).toEqual([404, "Key not found"]);
  }
  const rotated = { key: (await post(`/api/v2/keys/${body.id}/rotate`, own, { json: {} })).body.key as string };
  expect((await t.gantry.call("DELETE", `/api/v2/keys/${body.id}`, rotated)).status).toBe(204);
  expect((await get("/api/v2/me", rotated)).status).toBe(401);
});

test("a key with a monthly limit cannot change an agent's price, but everything else", async () => {
  const limited = { key: (await post("/api/v2/keys", whole, { json: { monthly_limit: 1 } })).body.key as string };
  const refused = ({ status, body }: Answer) => {
    const why = "This key has a limit and cannot change the price of agents. Use a key without limits.";
    expect([status, body.error?.message]).toEqual([403, why]);
  };
  const patch = (json: object, by: { key: string }) => t.gantry.call("PATCH", `/v1/agents/${id}`, { ...by, json });
  const priced = { pricing: { per_run: 0.25 }, visibility: "public" };
  const id = await t.makeAgent(priced, whole);
  const first = (await get(`/v1/agents/${id}`, whole)).body.published_revision_id;
  refused(await patch({ pricing: { per_run: 0 } }, limited));
  refused(
    await post("/v1/agents", limited, { json: { name: "A", goal: "x", tools: [], model: "admin/llm", ...priced } }),
  );
  expect((await patch({ goal: "Better.", visibility: "private" }, limited)).status).toBe(200);
  expect((await post(`/v1/agents/${id}/publish`, limited, { json: {} })).status).toBe(200);
  expect((await patch({ pricing: { per_run: 9 } }, whole)).status).toBe(200);
  refused(await post(`/v1/agents/${id}/publish`, limited, { json: {} }));
  expect((await post(`/v1/agents/${id}/publish`, limited, { json: { revision_id: first } })).status).toBe(200);
});
