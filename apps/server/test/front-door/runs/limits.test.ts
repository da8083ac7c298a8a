import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { text } from "../../support/models.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, read, ended, events, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;
const js = (code: string) => ({ name: "run_javascript", args: { code } });

/** Reports honest counts and respects `max_tokens`. */
function honest(request: LlmRequest, wantedOut: number) {
  const out = Math.min(wantedOut, request.max_tokens ?? wantedOut);
  const told = JSON.stringify([request.messages, request.tools ?? [], request.response_format ?? null]);
  return { usage: { in: Math.ceil(told.length / 4), out }, ...(out < wantedOut && { finish: "length" }) };
}

describe("steps", () => {
  test("end the run as limit_exceeded when they are used up, never as done", async () => {
    let n = 0;
    platform.llm.script = () => ({ calls: [js(`${n++}`)] });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }), { max_steps: 4 });
    expect(answer.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.error.message).toContain("4 steps");
    expect(asked()).toHaveLength(4);
    expect((await events(answer.body.id)).at(-1)).toMatchObject({ type: "error", error: { type: "limit_exceeded" } });
  });

  test("reserve the last one for the answer", async () => {
    platform.llm.script = inTurn({ calls: [js("1")] }, { text: "one" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }), { max_steps: 2 });
    expect(answer.body).toMatchObject({ status: "done" });
  });
});

describe("cost", () => {
  test("is never exceeded: answers are bounded by the remainder, and then the run ends", async () => {
    let n = 0;
    platform.llm.script = (request) => ({ calls: [js(`${n++}`)], ...honest(request, 200) });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }), { max_cost: 0.01 });
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.cost).toBeLessThanOrEqual(0.01);
    expect(answer.body.cost).toBeGreaterThan(0.005);
    expect(asked().length).toBeGreaterThan(2);
    for (const request of asked()) expect(request.max_tokens).toBeGreaterThan(0);
  });

  test("too small for a single call makes no call", async () => {
    const answer = await run(await makeAgent(), { max_cost: 0.00001 });
    expect(answer.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" }, cost: 0 });
    expect(asked()).toEqual([]);
  });

  test("an answer truncated by the cost limit does not count as a result", async () => {
    platform.llm.script = (request) => ({ text: "It is seven and", ...honest(request, 5000) });
    const answer = await run(await makeAgent(), { max_cost: 0.003 });
    expect(answer.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(answer.body.cost).toBeLessThanOrEqual(0.003);
    expect(answer.body.cost).toBeGreaterThan(0);
  });

  test("includes tools: a model that costs more than the remainder is not called", async () => {
    const paint = { name: "run_model", args: { model: "gantry/image", input: { prompt: "a hill", size: "1280x720" } } };
    platform.llm.script = (request) => ({ calls: [paint, paint, paint], ...honest(request, 10) });
    const answer = await run(await makeAgent({ tools: ["run_model"] }), { max_cost: 0.08 });
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    // An image costs 0.03: two fit, three do not, however many are requested at once.
    expect(answer.body.cost).toBeLessThanOrEqual(0.08);
    const { body } = await call("GET", "/api/v2/usage?page_size=10");
    const paid = body.results.filter((row: { model_name: string }) => row.model_name === "gantry/image");
    expect(paid.length).toBeLessThanOrEqual(2);
  });

  test("does not limit a free model", async () => {
    await platform.makeModel("free", { pricing: {} });
    const answer = await run(await makeAgent({ model: "admin/free" }), { max_cost: 0 });
    expect(answer.body).toMatchObject({ status: "done", cost: 0 });
  });
});

describe("time", () => {
  test("ends the run as timeout and closes the upstream call", async () => {
    platform.llm.script = () => new Promise(() => {});
    const id = await start(await makeAgent(), { timeout_seconds: 1 });
    await waitFor("the model to be called", () => platform.llm.open === 1);
    const seen = await ended(id);
    expect(seen).toMatchObject({ status: "error", error: { type: "timeout" } });
    expect(seen.error.message).toContain("1 second");
    const took = Date.parse(seen.completed_at) - Date.parse(seen.created_at);
    expect(took).toBeGreaterThanOrEqual(990);
    expect(took).toBeLessThan(20_000);
    await waitFor("the upstream call to be closed", () => platform.llm.open === 0);
  });

  test("stops a running tool", async () => {
    platform.llm.script = inTurn({ calls: [js("for (;;) {}")] }, { text: "never" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }), { timeout_seconds: 1 });
    expect(answer.body).toMatchObject({ status: "error", error: { type: "timeout" } });
    expect(asked()).toHaveLength(1);
  });
});

describe("funds", () => {
  test("that run out end the run as insufficient_funds", async () => {
    const user = await platform.newUser({ credit: 0.001 });
    const agent = await makeAgent({ tools: ["run_javascript"] }, user.key);
    let n = 0;
    platform.llm.script = () => ({ calls: [js(`${n++}`)], usage: { in: 1000, out: 100 } });
    const answer = await run(agent, {}, user);
    expect(answer.body, answer.text).toMatchObject({ status: "error", error: { type: "insufficient_funds" } });
    expect(asked()).toHaveLength(1);
  });
});

describe("a model that fails", () => {
  test("ends the run as internal, without the upstream's text", async () => {
    platform.llm.script = () => ({ status: 400 });
    const answer = await run(await makeAgent());
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" }, cost: 0 });
    expect(asked()).toHaveLength(1);
  });

  test("briefly is retried", async () => {
    platform.llm.script = inTurn({ status: 429, retryAfter: 0 }, { status: 503 }, { text: "back" });
    const answer = await run(await makeAgent());
    expect(answer.body).toMatchObject({ status: "done", output: { text: "back" } });
  });

  test("permanently is given up after a bounded number of attempts", async () => {
    platform.llm.script = () => ({ status: 503, retryAfter: 0 });
    const answer = await run(await makeAgent());
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" } });
    expect(asked().length).toBeLessThanOrEqual(9);
    expect(asked().length).toBeGreaterThanOrEqual(3);
  });

  test("by refusing ends the run as internal", async () => {
    platform.llm.script = () => ({ text: "", finish: "content_filter" });
    const user = await platform.newUser({ credit: 1 });
    const answer = await run(await makeAgent({}, user.key), {}, user);
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" } });
    // Its cost appears in the run and in the usage.
    const [row] = (await call("GET", "/api/v2/usage", user)).body.results;
    expect(answer.body.cost).toBe(row.price);
  });

  test("by being deleted or made private ends new runs with that reason", async () => {
    await platform.makeModel("gone");
    const agent = await makeAgent({ model: "admin/gone" });
    await call("DELETE", "/api/v1/admin/gone");
    const answer = await run(agent);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({ type: "conflict", message: expect.stringContaining("admin/gone") });
  });
});

describe("a model that changed to one without chat messages", () => {
  test("ends the run with that reason", async () => {
    await platform.makeModel("turned");
    const agent = await makeAgent({ model: "admin/turned" });
    const changed = await call("PATCH", "/api/v1/admin/turned", {
      json: { backend: { type: "cog", url: platform.llm.url } },
    });
    expect(changed.status, changed.text).toBe(200);
    const answer = await run(agent);
    expect(answer.body).toMatchObject({ status: "error", error: { type: "internal" }, cost: 0 });
    expect(answer.body.error.message).toMatch(/admin\/turned.*cog/);
    expect(asked()).toEqual([]);
  });
});

describe("a tool that fails", () => {
  test("is reported to the model, which continues", async () => {
    platform.llm.script = inTurn({ calls: [js("nope()")] }, { text: "It failed." });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "done", output: { text: "It failed." } });
    expect(toolResults(asked()[1])[0]).toContain("nope");
  });

  test("three times in a row by the same call ends the run as tool_error", async () => {
    platform.llm.script = () => ({ calls: [js("nope()")] });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "error", error: { type: "tool_error" } });
    const [told] = toolResults(asked()[1]);
    expect(told).toContain("nope");
    expect(answer.body.error.message).toBe(`run_javascript failed three times in a row: ${told}`);
    expect(asked()).toHaveLength(3);
  });

  test("several times in one step is one failure: the model has not seen it yet", async () => {
    platform.llm.script = inTurn({ calls: [js("nope()"), js("nope()"), js("nope()")] }, { text: "I see." });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "done" });
  });

  test("by different calls does not end the run", async () => {
    let n = 0;
    platform.llm.script = () => (n++ < 5 ? { calls: [js(`nope(${n})`)] } : { text: "enough" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "done" });
  });

  test("repeated identical calls are pointed out to the model", async () => {
    platform.llm.script = inTurn({ calls: [js("1")] }, { calls: [js("1")] }, { calls: [js("1")] }, { text: "I know." });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body.status).toBe("done");
    const results = toolResults(asked()[3]);
    expect(results[1]).not.toContain("times");
    expect(results[2]).toContain("3 times");
  });

  test("invalid calls are not made: unknown tools, arguments that are not JSON or violate the schema", async () => {
    platform.llm.script = inTurn(
      {
        calls: [
          { name: "rm_rf", args: {} },
          { name: "run_javascript", args: "{not json" },
          { name: "run_javascript", args: { program: 1 } },
          { name: "run_javascript", args: "[1]" },
        ],
      },
      { text: "I see." },
    );
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "done" });
    const [unknown, broken, wrong, list] = toolResults(asked()[1]);
    expect(unknown).toContain("run_javascript");
    expect(broken).toContain("JSON");
    expect(wrong).toContain("code");
    expect(list).toContain("JSON");
    expect(await types(answer.body.id)).toEqual([
      "planning",
      ...Array(4).fill(["tool_call", "tool_result"]).flat(),
      "completed",
    ]);
  });

  test("fixed values of a binding are hidden from the model and cannot be changed", async () => {
    const binding = { type: "tool", id: "run_javascript", arguments: { code: "'fixed'" } };
    platform.llm.script = inTurn({ calls: [js("'chosen'")] }, { text: "ok" });
    const answer = await run(await makeAgent({ tools: [binding] }));
    expect(answer.body.status).toBe("done");
    expect(JSON.stringify(asked()[0]?.tools)).not.toContain('"code"');
    expect(toolResults(asked()[1])[0]).toContain("fixed");
  });

  test("model text that the database cannot store does not end a run", async () => {
    platform.llm.script = inTurn({ text: "a\u0000b", calls: [js("'\\u0000\\ud800'")] }, { text: "end\u0000" });
    const answer = await run(await makeAgent({ tools: ["run_javascript"] }));
    expect(answer.body).toMatchObject({ status: "done", output: { text: "end\uFFFD" } });
  });
});

describe("cancel", () => {
  let beside: GantryNode;
  beforeAll(async () => {
    beside = await startGantry({ beside: platform.gantry });
  });
  afterAll(() => beside.close());

  test("stops the model at once and ends the run as cancelled, once; produced tokens are charged", async () => {
    platform.llm.script = () => new Promise(() => {});
    const id = await start(await makeAgent());
    await waitFor("the model to be called", () => platform.llm.open === 1);
    const startedAt = Date.now();
    const cancelled = await call("POST", `/v1/runs/${id}/cancel`);
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ status: "error", error: { type: "cancelled" }, phase: "ended" });
    await waitFor("the upstream call to be closed", () => platform.llm.open === 0);
    const again = await call("POST", `/v1/runs/${id}/cancel`);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(cancelled.body);
    expect((await events(id)).filter((event) => event.type === "error")).toHaveLength(1);
  });

  test("partial output is counted and charged, in the run as in the usage", async () => {
    const user = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({}, user.key);
    platform.llm.script = () => ({ text: "one two three four five six seven eight", hangs: true });
    const id = await start(agent, {}, user);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    // Until the text has arrived.
    await sleep(1_500);
    const { body } = await call("POST", `/v1/runs/${id}/cancel`, user);
    expect(body).toMatchObject({ status: "error", error: { type: "cancelled" } });
    expect(body.usage.input_tokens).toBeGreaterThan(0);
    expect(body.usage.output_tokens).toBeGreaterThan(0);
    expect(body.cost).toBeGreaterThan(0);
    const [row] = (await call("GET", "/api/v2/usage", user)).body.results;
    expect(row).toMatchObject({ status: 499, price: body.cost, input_tokens: body.usage.input_tokens });
    expect((await call("GET", "/api/v2/me", user)).body).toMatchObject({ balance: 1 - body.cost, reserved: 0 });
  });

  test("from the other node, in the middle of a tool", async () => {
    platform.llm.script = () => ({ calls: [js("for (;;) {}")] });
    const agent = await makeAgent({ tools: ["run_javascript"] });
    const [here, there] = await Promise.all([start(agent), start(agent)]);
    await waitFor("both to be in the tool", async () => {
      const both = await Promise.all([types(here), types(there)]);
      return both.every((one) => one.includes("tool_call"));
    });
    const answers = await Promise.all([
      beside.call("POST", `/v1/runs/${here}/cancel`),
      call("POST", `/v1/runs/${there}/cancel`),
    ]);
    for (const { body } of answers) expect(body).toMatchObject({ status: "error", error: { type: "cancelled" } });
  });

  test("of queued runs, many at once, and of ended ones", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "done" };
    };
    const agent = await makeAgent();
    const ids = await Promise.all(Array.from({ length: 20 }, () => start(agent)));
    const answers = await Promise.all(ids.map((id) => call("POST", `/v1/runs/${id}/cancel`)));
    expect(answers.map(({ body }) => body.error?.type)).toEqual(Array(20).fill("cancelled"));
    held.open();
    const done = await run(agent);
    expect((await call("POST", `/v1/runs/${done.body.id}/cancel`)).body).toEqual(done.body);
    expect((await read(done.body.id)).status).toBe("done");
  });
});

test("an agent's model may use its whole reservation, not just the default length of predictions", async () => {
  const max_tokens = { type: "integer", default: 300, maximum: 32_000 };
  await platform.makeModel("length", {
    input: { type: "object", properties: { prompt: text, max_tokens }, required: ["prompt"] },
  });
  const me = async () => (await platform.gantry.call("GET", "/api/v2/me")).body;
  let reserved = 0;
  platform.llm.script = async () => {
    reserved = (await me()).reserved;
    return { text: "done" };
  };
  const agent = await platform.makeAgent({ model: "admin/length" });
  const answer = await platform.run(agent);
  expect(answer.body.status, answer.text).toBe("done");
  expect(platform.llm.requests.map((request) => request.max_tokens)).toEqual([4096]);
  // Ten micro-dollars per token, and a little for the input.
  expect(reserved).toBeGreaterThan(4096 * 10e-6);
  expect(reserved).toBeLessThan(4096 * 10e-6 + 0.002);
  await platform.run(agent, { max_cost: 0.003 });
  expect(platform.llm.requests.at(-1)?.max_tokens).toBeLessThan(300);
});
