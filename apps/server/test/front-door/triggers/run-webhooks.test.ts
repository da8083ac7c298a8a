import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type HookReceiver, type ReceivedHook, startHookReceiver } from "../../support/webhook-receiver.ts";

let t: AgentRuns;
let site: HookReceiver;

beforeAll(async () => {
  t = await startAgentRuns();
  site = await startHookReceiver();
});
afterAll(async () => {
  await t.close();
  await site.close();
});
beforeEach(() => {
  site.received.length = 0;
  site.status = 204;
  t.llm.script = () => ({ text: "done" });
});

const asking = [{ type: "tool", id: "run_javascript", confirm: "always" }];
const compute = { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };
const deliveries = async (query = "", key?: string) =>
  (await t.gantry.call("GET", `/api/v2/webhooks/deliveries${query}`, key ? { key } : {})).body;
const untilReceived = (count: number) => waitFor("the webhooks", () => site.received.length >= count);

describe("the webhook of a run", () => {
  test("is signed, sent once, and contains the run as its caller reads it", async () => {
    const agent = await t.makeAgent();
    const webhook = {
      url: `${site.url}/hook?a=1`,
      headers: { authorization: "Bearer of-the-receiver" },
      query_params: { token: "t 1" },
    };
    const run = await t.run(agent, { input: { a: 1 }, webhook });
    expect(run.body.status, run.text).toBe("done");
    expect(run.text).not.toContain("of-the-receiver");
    await untilReceived(1);
    const [hook] = site.received as [ReceivedHook];
    const { secrets } = (await t.gantry.call("GET", "/api/v2/webhooks/secret")).body;
    new Webhook(secrets[0]).verify(hook.text, hook.headers as Record<string, string>);
    expect(hook.url).toBe("/hook?a=1&token=t+1");
    expect(hook.headers.authorization).toBe("Bearer of-the-receiver");
    expect(hook.body).toEqual({
      type: "run.done",
      timestamp: expect.stringMatching(/Z$/),
      run: (await t.gantry.call("GET", `/v1/runs/${run.body.id}`)).body,
    });
    const { results, total_count } = await deliveries(`?run_id=${run.body.id}`);
    expect(total_count).toBe(1);
    expect(results[0]).toMatchObject({
      id: hook.headers["webhook-id"],
      kind: "run",
      run_id: run.body.id,
      event: "done",
      prediction_id: null,
      url: `${site.url}/hook?a=1`,
    });
    const details = (await t.gantry.call("GET", `/api/v2/webhooks/deliveries/${results[0].id}`)).body;
    expect(details.payload).toEqual(hook.body);
    expect(details.headers.authorization).toBe("••••••");
    const [row] = await t.gantry.database.sql`
      select w.target, w::text as text from run_webhooks w where run_id = ${run.body.id}`;
    expect(row?.text + row?.target.toString("latin1")).not.toMatch(/of-the-receiver|token/);
    // Resent under the same id.
    await t.gantry.call("POST", `/api/v2/webhooks/deliveries/${results[0].id}/resend`);
    await untilReceived(2);
    expect(site.received[1]?.headers["webhook-id"]).toBe(hook.headers["webhook-id"]);
    expect(site.received[1]?.text).toBe(hook.text);
  });

  test("is sent for the chosen events, and for a cancelled run as an error", async () => {
    t.llm.script = () => ({ text: "", hangs: true });
    const agent = await t.makeAgent();
    const webhook = { url: site.url, events: ["error"] };
    const hanging = await t.run(agent, { wait: 0, webhook });
    expect((await t.gantry.call("POST", `/v1/runs/${hanging.body.id}/cancel`)).status).toBe(200);
    await untilReceived(1);
    expect(site.received[0]?.body).toMatchObject({
      type: "run.error",
      run: { id: hanging.body.id, status: "error", error: { type: "cancelled" } },
    });
    t.llm.script = () => ({ text: "done" });
    await t.run(agent, { webhook });
    expect((await deliveries()).results[0].run_id).toBe(hanging.body.id);
    expect(await t.gantry.database.sql`select 1 from run_webhook_events`).toHaveLength(0);
  });

  test("reports each confirmation of the run and of its sub-agents, which send nothing themselves", async () => {
    const child = await t.makeAgent({ goal: "Child.", tools: asking, webhook: { url: `${site.url}/child` } });
    const parent = await t.makeAgent({ goal: "Parent.", tools: [{ type: "agent", agent_id: child, name: "helper" }] });
    t.llm.script = (request) => {
      const results = request.messages.filter(({ role }) => role === "tool");
      if (results.length > 0) return { text: "finished" };
      return request.messages[1]?.content?.startsWith("Child") ? compute : { calls: [{ name: "helper", args: {} }] };
    };
    const { runId, asked } = await t.runUntilAsked(parent, { webhook: { url: site.url } });
    await untilReceived(1);
    expect(site.received[0]?.body).toMatchObject({
      type: "run.confirmation_required",
      run: { id: runId, status: "running" },
      confirmation: { id: asked.id, tool: "run_javascript", arguments: { code: "6 * 7" }, status: "pending" },
    });
    await t.answer(runId, asked.id, { approve: true });
    await t.ended(runId);
    await untilReceived(2);
    expect(site.received[1]?.body).toMatchObject({ type: "run.done", run: { id: runId } });
    await sleep(300);
    expect(site.received).toHaveLength(2);
    expect((await deliveries(`?run_id=${runId}`)).results.map(({ event }: { event: string }) => event)).toEqual([
      "done",
      "confirmation_required",
    ]);
  });

  test("leaves out what is too large and says where to read it", async () => {
    const agent = await t.makeAgent({ input_schema: { type: "object" } });
    const run = await t.run(agent, { input: { text: "x".repeat(300_000) }, webhook: { url: site.url } });
    await untilReceived(1);
    const { body, text } = site.received[0] as ReceivedHook;
    expect(text.length).toBeLessThan(10_000);
    expect(body.run.output).toEqual({ text: "done" });
    expect(body.run.input).toBeUndefined();
    expect(body.omitted).toEqual({ fields: ["run.input"], url: `${t.gantry.url}/v1/runs/${run.body.id}` });
  });

  test("names every fault of its fields", async () => {
    const agent = await t.makeAgent();
    const refused = async (webhook: unknown) => {
      const { status, body, text } = await t.run(agent, { webhook });
      expect(status, text).toBe(400);
      return body.error.details.map(({ loc }: { loc: unknown[] }) => loc.join("."));
    };
    expect(await refused({ url: "ftp://a" })).toEqual(["body.webhook.url"]);
    expect(await refused({ url: "https://u:p@a.example" })).toEqual(["body.webhook.url"]);
    expect(await refused({ url: site.url, headers: { "a b": "c" } })).toEqual(["body.webhook.headers.a b"]);
    expect(await refused({ url: site.url, headers: { a: "c\r\nx: y" } })).toEqual(["body.webhook.headers.a"]);
    expect(await refused({ url: site.url, events: ["started"] })).toEqual(["body.webhook.events.0"]);
    expect(await refused({ url: site.url, query_params: { a: "é".repeat(2083) } })).toEqual(["body.webhook.url"]);
  });
});

describe("the webhook of an agent", () => {
  test("is for runs of its owner without a webhook of their own, once published", async () => {
    const owner = await t.gantry.newUser("hook-owner");
    const stranger = await t.gantry.newUser("hook-stranger");
    const model = { model: "gantry/rules", visibility: "public" };
    const agent = await t.makeAgent({ ...model, webhook: { url: `${site.url}/agent` } }, { key: owner });
    const read = (await t.gantry.call("GET", `/v1/agents/${agent}`, { key: owner })).body;
    expect(read.webhook).toEqual({ url: `${site.url}/agent` });
    const card = await t.gantry.call("GET", `/v1/agents/${agent}`, { key: stranger });
    expect(card.text).not.toContain(site.url);

    await t.run(agent, {}, { key: stranger });
    await t.run(agent, { webhook: null }, { key: owner });
    await t.run(agent, { webhook: { url: `${site.url}/own` } }, { key: owner });
    await t.run(agent, {}, { key: owner });
    await untilReceived(2);
    await sleep(300);
    expect(site.received.map(({ url }) => url).sort()).toEqual(["/agent", "/own"]);

    const changed = await t.gantry.call("PATCH", `/v1/agents/${agent}`, { key: owner, json: { webhook: null } });
    expect(changed.body.webhook).toBeNull();
    const diff = `/v1/agents/${agent}/revisions/${changed.body.latest_revision_id}/diff`;
    expect((await t.gantry.call("GET", diff, { key: owner })).body.changes).toEqual({
      webhook: { old: { url: `${site.url}/agent` }, new: null },
    });
  });
});

test("a confined key lists, reads and resends only deliveries of its own runs", async () => {
  const agent = await t.makeAgent();
  const app = (await t.gantry.call("POST", "/api/v2/keys", { json: { name: "app", models: ["admin/llm"] } })).body.key;
  const own = await t.run(agent, { webhook: { url: site.url } }, { key: app });
  const other = await t.run(agent, { webhook: { url: site.url } });
  await untilReceived(2);
  const seen = (await deliveries("", app)).results;
  expect(seen.map(({ run_id }: { run_id: string }) => run_id)).toEqual([own.body.id]);
  const [{ id }] = (await deliveries(`?run_id=${other.body.id}`)).results;
  expect((await t.gantry.call("GET", `/api/v2/webhooks/deliveries/${id}`, { key: app })).status).toBe(404);
  expect((await t.gantry.call("POST", `/api/v2/webhooks/deliveries/${id}/resend`, { key: app })).status).toBe(404);
  expect((await t.gantry.call("POST", `/api/v2/webhooks/deliveries/${seen[0].id}/resend`, { key: app })).status).toBe(
    200,
  );
});

test("failed attempts are retried; the same bytes arrive under one id", async () => {
  site.status = 503;
  const run = await t.run(await t.makeAgent(), { webhook: { url: site.url } });
  const received = () => site.received.filter(({ body }) => body.run.id === run.body.id);
  await waitFor("the first attempt", () => received().length === 1);
  site.status = 204;
  await waitFor("the second attempt", () => received().length === 2);
  expect(new Set(received().map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(received().map(({ text }) => text)).size).toBe(1);
  await waitFor("the result", async () => {
    const { results } = await deliveries(`?run_id=${run.body.id}`);
    return results[0].status === "delivered" && results[0].attempts === 2;
  });
});
