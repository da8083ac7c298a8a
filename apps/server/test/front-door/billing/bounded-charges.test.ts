import { beforeAll, describe, expect, test } from "vitest";
import { readStream } from "../../support/read-stream.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, newUser } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const text = { type: "string" };
const count = { type: "integer" };

/** Reported by a hostile upstream for every answer. */
const claimed = { in: 10_000_000, out: 10_000_000, cached: 5_000_000, written: 5_000_000 };

beforeAll(async () => {
  const input = { type: "object", properties: { prompt: text, max_tokens: count }, required: ["prompt"] };
  await platform.makeModel("cheap", { input, pricing: { per_million_output_tokens: 1 } });
  await platform.makeModel("dear", { input, pricing: { per_million_output_tokens: 1_000_000 } });
  const all = { per_million_input_tokens: 10, per_million_cache_write_tokens: 20, per_million_output_tokens: 10 };
  await platform.makeModel("both", { input, pricing: all });
  const output = { type: "object", properties: { output: text } };
  await platform.makeModel("plain", { input, output, kind: "other", context_window: undefined, pricing: all });
});

const me = async (key: string) => (await call("GET", "/api/v2/me", { key })).body;
const rows = async (key: string) => (await call("GET", "/api/v2/usage", { key })).body.results;
async function settled(key: string) {
  await waitFor("nothing to be reserved", async () => (await me(key)).reserved === 0);
  return me(key);
}
const hostile = () => {
  platform.llm.script = () => ({ text: "FINAL []", usage: claimed });
};

describe("an upstream that reports 10,000,000 tokens", () => {
  const form = { prompt: "say hi", max_tokens: "10" };
  /** "say hi" is two tokens: input reserves a quarter more plus 64, output reserves 10. */
  const bounded = { input_tokens: 67, output_tokens: 10, cached_tokens: 67, cache_write_tokens: 0 };

  test("is charged at most the reservation: sync", async () => {
    hostile();
    const { key } = await newUser({ credit: 50 });
    expect((await call("POST", "/api/v1/admin/plain/predict", { form, key })).status).toBe(200);
    const [row] = await rows(key);
    expect(row).toMatchObject({ route: "sync", ...bounded, price: 0.00077 });
    expect((await settled(key)).balance).toBe(49.99923);
  });

  test("stream_details have the charged counts", async () => {
    hostile();
    const { key } = await newUser({ credit: 50 });
    const response = await platform.gantry.fetch("POST", "/api/v1/admin/both/predict/stream/", { form, key });
    const events = await Array.fromAsync(readStream(response));
    expect(events.at(-1).stream_details).toMatchObject(bounded);
    expect((await settled(key)).balance).toBe(49.99923);
  });

  test("queued: the result has the charged counts", async () => {
    hostile();
    const { key } = await newUser({ credit: 50 });
    const accepted = await call("POST", "/api/v1/admin/both/predict/async/", { form, key });
    const query = `request_id=${accepted.body.prediction_id}&wait=20`;
    const result = await call("GET", `/api/v1/admin/both/predict/async/result/?${query}`, { key });
    const [item] = result.body.inference_responses;
    expect(item.infer_details, result.text).toMatchObject({ status: 200, stream_details: bounded });
    expect((await settled(key)).balance).toBe(49.99923);
  });

  test("cancelled", async () => {
    platform.llm.script = () => ({ text: "FINAL []", usage: claimed, hangs: true });
    const { key } = await newUser({ credit: 50 });
    const response = await platform.gantry.fetch("POST", "/api/v1/admin/both/predict/stream/", { form, key });
    const events = readStream(response);
    const id = (await events.next()).value.prediction_id;
    await events.next();
    await call("POST", "/api/v1/admin/both/predict/cancel/", { form: { prediction_id: id }, key });
    for await (const _ of events);
    const [row] = await rows(key);
    expect(row).toMatchObject({ status: 499, ...bounded, price: 0.00077 });
    expect((await settled(key)).balance).toBe(49.99923);
  });

  test("at a million dollars a million tokens, with max_tokens=1", async () => {
    hostile();
    const { key } = await newUser({ credit: 50 });
    const asked = { prompt: "say hi", max_tokens: "1" };
    expect((await call("POST", "/api/v1/admin/dear/predict/stream/", { form: asked, key })).status).toBe(200);
    expect((await settled(key)).balance).toBe(49);
  });

  test("the upstream's max_tokens never exceeds the reservation", async () => {
    hostile();
    const { key } = await newUser({ credit: 50 });
    for (const [max_tokens, sent] of [
      ["0", 4096],
      ["-5", 4096],
      ["12", 12],
    ] as const) {
      await call("POST", "/api/v1/admin/cheap/predict/stream/", { form: { prompt: "hi", max_tokens }, key });
      expect(platform.llm.requests.at(-1)?.max_tokens).toBe(sent);
    }
  });

  test("also for the caller's own model", async () => {
    hostile();
    const { name, key } = await newUser({ credit: 50 });
    const json = (await call("GET", "/api/v1/admin/both")).body;
    const { input, output, backend, pricing } = json;
    const own = { title: "Own", kind: "text", input, output, backend, pricing };
    const made = await call("PUT", `/api/v1/${name}/own`, { key, json: own });
    expect(made.status, made.text).toBe(201);
    expect((await call("POST", `/api/v1/${name}/own/predict/stream/`, { form, key })).status).toBe(200);
    expect((await settled(key)).balance).toBe(49.99923);
  });
});

describe("a run with max_cost", () => {
  const costing = (body: { cost: number }) => body.cost;

  test("never costs more than max_cost, whatever its model reports", async () => {
    hostile();
    const user = await newUser({ credit: 50 });
    for (const model of ["admin/cheap", "admin/both"]) {
      const agent = await makeAgent({ model }, user.key);
      const { body } = await run(agent, { max_cost: 0.05 }, user);
      expect(body.status, JSON.stringify(body)).toBe("done");
      expect(costing(body)).toBeGreaterThan(0);
      expect(costing(body)).toBeLessThanOrEqual(0.05);
    }
    const spent = (await rows(user.key)).reduce((sum: number, row: { price: number }) => sum + row.price, 0);
    expect((await settled(user.key)).balance).toBeCloseTo(50 - spent, 6);
  });

  test("over many steps, models called as tools and sub-agents", async () => {
    const user = await newUser({ credit: 50 });
    const child = await makeAgent({ goal: "Child.", model: "admin/both" }, user.key);
    const tools = ["run_model", { type: "agent", agent_id: child, name: "work" }];
    const parent = await makeAgent({ tools, model: "admin/both" }, user.key);
    platform.llm.script = (request: LlmRequest) => {
      const isChild = JSON.stringify(request.messages).includes("Child.");
      if (isChild || toolResults(request).length > 30) return { text: "ok", usage: claimed };
      const both = { name: "run_model", args: { model: "admin/both", input: { prompt: "hi", max_tokens: 40 } } };
      return { calls: [both, both, { name: "work", args: {} }], usage: claimed };
    };
    for (const max_cost of [0.05, 0.2]) {
      const { body } = await run(parent, { max_cost }, user);
      expect(body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
      expect(costing(body)).toBeGreaterThan(max_cost / 4);
      expect(costing(body)).toBeLessThanOrEqual(max_cost);
    }
  });

  test("an upstream cannot raise the next call's reservation", async () => {
    const user = await newUser({ credit: 50 });
    const agent = await makeAgent({ tools: ["run_javascript"], model: "admin/both" }, user.key);
    platform.llm.script = (request) =>
      toolResults(request).length < 20
        ? { calls: [{ name: "run_javascript", args: { code: "1" } }], usage: claimed }
        : { text: "ok", usage: claimed };
    const { body } = await run(agent, {}, user);
    expect(body.status, JSON.stringify(body)).toBe("done");
    const inputs = (await rows(user.key)).map((row: { input_tokens: number }) => row.input_tokens);
    // Twenty short steps are a few thousand tokens; growing by a quarter each, they would be a hundred times that.
    expect(Math.max(...inputs)).toBeLessThan(10 * Math.min(...inputs));
  });

  test("a model whose price rises while its call waits is not called", async () => {
    const user = await newUser({ credit: 50 });
    await platform.makeModel("bait", { pricing: { per_request: 0.03 } });
    const agent = await makeAgent({ tools: ["run_model"] }, user.key);
    const ask = (model: string, input: object) => ({ name: "run_model", args: { model, input } });
    // The first reserves 5,000 tokens at 10 dollars per million; the second waits for them.
    const first = ask("admin/both", { prompt: "hi", max_tokens: 5000 });
    const second = ask("admin/bait", { prompt: "hi" });
    const waiting = gate();
    platform.llm.script = async (request) => {
      if (request.model === "both") await waiting.promise;
      if (request.model !== "llm") return { text: "k", usage: { in: 1, out: 1 } };
      return toolResults(request).length === 0 ? { calls: [first, second] } : { text: "ok" };
    };
    const id = await platform.start(agent, { max_cost: 0.075 }, user);
    await waitFor("the first call", () => platform.llm.requests.some(({ model }) => model === "both"));
    await call("PATCH", "/api/v1/admin/bait", { json: { pricing: { per_request: 40 } } });
    waiting.open();
    // Reported to the model, or the end of the run if the new price was known before the wait.
    const ended = await platform.ended(id, user.key);
    expect(["done", "error"]).toContain(ended.status);
    if (ended.status === "error") expect(ended.error.type).toBe("limit_exceeded");
    else expect(toolResults(platform.llm.requests.at(-1))[1]).toContain("Call it again");
    expect(ended.cost).toBeLessThan(0.03);
    expect(platform.llm.requests.some(({ model }) => model === "bait")).toBe(false);
  });
});

describe("a key with monthly_limit", () => {
  const stream = (model: string, max_tokens: number, key: string) =>
    call("POST", `/api/v1/admin/${model}/predict/stream/`, {
      form: { prompt: "say hi", max_tokens: String(max_tokens) },
      key,
    });
  const spent = async (key: string) =>
    Math.round((await rows(key)).reduce((sum: number, row: { price: number }) => sum + row.price, 0) * 1e6) / 1e6;

  test("never spends more, whatever is reported", async () => {
    hostile();
    const { key } = await newUser({ credit: 50, key: { monthly_limit: 0.1 } });
    // 60,000 tokens are reserved and reported. A second 60,000 would exceed the limit; 40,000 do not.
    expect((await stream("cheap", 60_000, key)).status).toBe(200);
    expect(await spent(key)).toBe(0.06);
    const refused = await stream("cheap", 60_000, key);
    expect([refused.status, refused.body.detail]).toEqual([403, "Insufficient funds"]);
    expect((await stream("cheap", 40_000, key)).status).toBe(200);
    expect(await spent(key)).toBe(0.1);
    expect((await stream("cheap", 1, key)).status).toBe(403);
  });

  test("is refused a call that it could not pay in full, also queued", async () => {
    hostile();
    const { key } = await newUser({ credit: 50, key: { monthly_limit: 0.1 } });
    expect((await stream("cheap", 100_001, key)).status).toBe(403);
    const form = { prompt: "say hi", max_tokens: "100001" };
    expect((await call("POST", "/api/v1/admin/cheap/predict/async/", { form, key })).status).toBe(403);
    expect((await stream("cheap", 100_000, key)).status).toBe(200);
    expect(await spent(key)).toBe(0.1);
  });

  test("admits the calls that fit, of many at once", async () => {
    hostile();
    const { key } = await newUser({ credit: 50, key: { monthly_limit: 0.1 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => stream("cheap", 30_000, key)));
    await settled(key);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(3);
    expect(await spent(key)).toBeLessThanOrEqual(0.1);
  });

  test("ends a run as insufficient_funds before a call that could exceed it", async () => {
    hostile();
    const owner = await newUser({ credit: 50, key: { monthly_limit: 0.1 } });
    const agent = await makeAgent({ tools: ["run_javascript"], model: "admin/both" }, owner.key);
    platform.llm.script = () => ({ calls: [{ name: "run_javascript", args: { code: "1" } }], usage: claimed });
    const { body } = await run(agent, {}, owner);
    expect(body).toMatchObject({ status: "error", error: { type: "insufficient_funds" } });
    expect(body.cost).toBeGreaterThan(0);
    expect(body.cost).toBeLessThanOrEqual(0.1);
    expect(await spent(owner.key)).toBe(body.cost);
  });
});

describe("an honest report", () => {
  test("is charged in full within the reservation, cache writes at their own price", async () => {
    const { key } = await newUser({ credit: 50 });
    platform.llm.script = () => ({ text: "ok", usage: { in: 60, out: 9, cached: 20, written: 30 } });
    await call("POST", "/api/v1/admin/both/predict/stream/", { form: { prompt: "say hi" }, key });
    const [row] = await rows(key);
    // 10 fresh and 20 cached tokens at 10 dollars a million, 30 written ones at 20, 9 of output at 10.
    const figures = { input_tokens: 60, output_tokens: 9, cached_tokens: 20, cache_write_tokens: 30, price: 0.00099 };
    expect(row).toMatchObject(figures);
    const csv = await call("GET", "/api/v2/usage", { key, headers: { accept: "text/csv" } });
    expect(csv.text.split("\r\n")[0]).toMatch(/,cache_write_tokens,door,backend$/);
    expect(csv.text.split("\r\n")[1]).toMatch(/,60,9,20,0\.00099,30,,$/);
  });

  test("appears in the usage of a run", async () => {
    const user = await newUser({ credit: 50 });
    const agent = await makeAgent({ model: "admin/both" }, user.key);
    platform.llm.script = () => ({ text: "ok", usage: { in: 60, out: 9, cached: 20, written: 30 } });
    const { body } = await run(agent, {}, user);
    const usage = { input_tokens: 60, output_tokens: 9, cached_tokens: 20, cache_write_tokens: 30 };
    expect(body).toMatchObject({ status: "done", usage, cost: 0.00099 });
  });
});
