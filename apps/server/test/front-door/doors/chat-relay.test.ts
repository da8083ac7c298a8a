import { expect, test } from "vitest";
import { answering } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { eventsOf, sending, useDoorsPlatform } from "../../support/doors-platform.ts";

/** Requests that reach an upstream of the same protocol, and upstreams that bend the protocol. */
const platform = useDoorsPlatform();

const question = [{ role: "user", content: "Say hello." }];
const head = { id: "chatcmpl-up", object: "chat.completion.chunk", created: 7, model: "m-1" };
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const role = chunk({ role: "assistant", content: "" });
const part = (fields: object) => chunk({ tool_calls: [fields] });

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Chunk = any;

async function ask(body: object = {}): Promise<{ chunks: Chunk[]; last: string | undefined; text: string }> {
  const json = { model: "admin/native", messages: question, stream: true, ...body };
  const { status, text } = await platform.gantry.call("POST", "/v1/chat/completions", { json });
  expect(status, text).toBe(200);
  const events = eventsOf(text);
  return { chunks: events.slice(0, -1).map((event) => JSON.parse(event)), last: events.at(-1), text };
}

const sent = () => platform.native.requests[0]?.body as Chunk;
const callsOf = (chunks: Chunk[]) => chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
const reasonsOf = (chunks: Chunk[]) => chunks.map(({ choices }) => choices[0]?.finish_reason);

test("unknown fields pass in both directions, with only the model's name replaced", async () => {
  const message = { role: "assistant", content: "Hi", annotations: [{ a: 1 }] };
  const body = {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
    service_tier: "x",
  };
  platform.native.play(({ response }) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const given = {
    messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }] }],
    web_search_options: {},
    logprobs: true,
    made_up: { deep: [1, 2] },
    verbosity: "low",
  };
  const { body: answer } = await platform.gantry.call("POST", "/v1/chat/completions", {
    json: { model: "admin/native", ...given },
  });
  expect(answer).toEqual({ ...body, model: "admin/native" });
  expect(sent()).toEqual({ ...given, model: "m-1", stream: false, max_tokens: 8192 });
});

test("the usage is asked for, and the client's own stream options survive", async () => {
  platform.native.play(answering({ text: ["A"], usage: { input: 1, output: 1 } }));
  await ask({ stream_options: { include_obfuscation: false }, max_completion_tokens: 50 });
  expect(sent()).toMatchObject({
    stream: true,
    stream_options: { include_obfuscation: false, include_usage: true },
    max_completion_tokens: 50,
  });
  expect(sent()).not.toHaveProperty("max_tokens");
});

test("fields of chunks that Gantry does not know survive", async () => {
  const odd = (content: string) => ({ ...chunk({ content }), system_fingerprint: "fp_1", provider: { name: "x" } });
  const filters = { ...head, choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  platform.native.play(sending(filters, role, odd("a"), odd('b\\" \u{1f600}'), odd("c"), chunk({}, "stop"), "[DONE]"));
  const { chunks } = await ask();
  expect(chunks[0]).toEqual({ ...filters, model: "admin/native" });
  expect(chunks.slice(2, 5)).toEqual(
    ["a", 'b\\" \u{1f600}', "c"].map((text) => ({ ...odd(text), model: "admin/native" })),
  );
});

test("the name of the model is replaced wherever it is, and texts that look like it are not", async () => {
  const late = (content: string) => ({
    id: "x",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    model: "m-1",
  });
  const texts = ['"model":"m-1"', "m-1", "end"];
  platform.native.play(sending(...texts.map(late), chunk({}, "stop"), "[DONE]"));
  const { chunks } = await ask();
  expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe(texts.join(""));
  expect(new Set(chunks.map(({ model, id }) => `${model} ${id}`))).toEqual(new Set(["admin/native x"]));
});

test("an empty finish reason becomes null", async () => {
  platform.native.play(
    sending(chunk({ role: "assistant", content: "a" }, ""), chunk({ content: "b" }, ""), chunk({}, "stop")),
  );
  const { chunks, last } = await ask();
  expect(reasonsOf(chunks)).toEqual([null, null, "stop"]);
  expect(last).toBe("[DONE]");
});

test("a missing role, id, finish chunk, usage and [DONE] are added", async () => {
  const bare = (content: string) => ({ choices: [{ delta: { content } }] });
  platform.native.play(sending(bare("a"), bare("b"), bare("c"), "[DONE]"));
  const { chunks, last } = await ask({ stream_options: { include_usage: true } });
  expect(chunks[0].choices[0]).toEqual({ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null });
  expect(new Set(chunks.map(({ id, model, object }) => `${id} ${model} ${object}`)).size).toBe(1);
  expect(chunks[0]).toMatchObject({ object: "chat.completion.chunk", model: "admin/native" });
  expect(reasonsOf(chunks)).toEqual([null, null, null, "stop", undefined]);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
  expect(last).toBe("[DONE]");
});

test("usage beside a choice moves to a chunk of its own, or stays out", async () => {
  const events = [role, chunk({ content: "a" }, null, { usage: null }), chunk({}, "stop", { usage }), "[DONE]"];
  platform.native.play(sending(...events));
  const asked = await ask({ stream_options: { include_usage: true } });
  expect(asked.chunks.filter((one) => one.usage)).toEqual([{ ...head, model: "admin/native", choices: [], usage }]);
  const unasked = await ask();
  expect(unasked.text).not.toContain("usage");
});

test("usage in every chunk reaches a client that asks for it", async () => {
  platform.native.play(
    sending(chunk({ role: "assistant", content: "a" }, null, { usage }), chunk({}, "stop", { usage }), "[DONE]"),
  );
  const { chunks } = await ask({ stream_options: { include_usage: true, continuous_usage_stats: true } });
  expect(chunks.filter((one) => one.usage).length).toBeGreaterThanOrEqual(2);
});

test("calls that all have the index 0 get their own, and end with tool_calls after a stop", async () => {
  const call = (id: string, city: string) =>
    part({ index: 0, id, type: "function", function: { name: "f", arguments: { city } } });
  platform.native.play(sending(role, call("a", "Oslo"), call("b", "Rome"), chunk({}, "stop"), "[DONE]"));
  const { chunks } = await ask();
  expect(callsOf(chunks)).toEqual([
    { index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"city":"Oslo"}' } },
    { index: 1, id: "b", type: "function", function: { name: "f", arguments: '{"city":"Rome"}' } },
  ]);
  expect(reasonsOf(chunks).at(-1)).toBe("tool_calls");
});

test("a call without index and id gets both, and repeated ids and names appear once", async () => {
  const repeated = { index: 4, id: "b", type: "function" };
  platform.native.play(
    sending(
      role,
      part({ function: { name: "f", arguments: '{"a"' } }),
      part({ function: { arguments: ":1}" } }),
      part({ ...repeated, function: { name: "g", arguments: "" } }),
      part({ ...repeated, function: { name: "g", arguments: "{}" } }),
      chunk({}, "tool_calls"),
      "[DONE]",
    ),
  );
  const { chunks } = await ask();
  expect(callsOf(chunks)).toEqual([
    { index: 0, id: expect.stringMatching(/^call_/), type: "function", function: { name: "f", arguments: '{"a"' } },
    { index: 0, function: { arguments: ":1}" } },
    { index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } },
    { index: 1, function: { arguments: "{}" } },
  ]);
});

test("a stream that breaks off is an error chunk, not an end", async () => {
  platform.native.play(({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(chunk({ role: "assistant", content: "a" }))}\n\n`);
    setTimeout(() => response.destroy(), 50);
  });
  const json = { model: "admin/native", messages: question, stream: true };
  const { text } = await platform.gantry.call("POST", "/v1/chat/completions", { json });
  expect(JSON.parse(eventsOf(text).at(-1) ?? "")).toMatchObject({ error: { type: "server_error" } });
});
