import { expect, test } from "vitest";
import { answering } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useDoorsPlatform } from "../../support/doors-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Clients repeat POSTs by themselves; with an Idempotency-Key a repeat is not charged again. */
const platform = useDoorsPlatform();
const question = [{ role: "user" as const, content: "Say hello." }];
const usage = { input: 9, output: 5 };
const weather = { type: "function" as const, function: { name: "f", parameters: { type: "object" } } };
const calls = [{ id: "a", name: "f", arguments: '{"city":"Oslo"}' }];

const ledger = async (key: string) => (await platform.gantry.call("GET", "/api/v2/usage", { key })).body.results;

test.each(["native", "translated"] as const)("%s: a repeat gets the first answer and costs nothing", async (way) => {
  const key = await platform.gantry.newUser(`repeats-${way}`);
  platform[way].play(answering({ text: ["Hel", "lo."], reasoning: ["Hm."], usage }));
  const client = platform.openai(key);
  const body = { model: `admin/${way}`, messages: question };
  const headers = { "idempotency-key": `one-${way}` };
  const first = await client.chat.completions.create(body, { headers }).withResponse();
  const second = await client.chat.completions.create(body, { headers }).withResponse();
  expect(second.data.choices).toEqual(first.data.choices);
  expect(second.data.usage).toEqual(first.data.usage);
  expect(second.response.headers.get("x-gantry-prediction-id")).toBe(
    first.response.headers.get("x-gantry-prediction-id"),
  );
  expect(platform[way].requests).toHaveLength(1);
  expect(await ledger(key)).toHaveLength(1);
});

test.each(["native", "translated"] as const)("%s: a repeated stream has the same content", async (way) => {
  const key = await platform.gantry.newUser(`streams-${way}`);
  platform[way].play(answering({ text: ["Hel", "lo."], toolCalls: calls, usage }));
  const client = platform.openai(key);
  const headers = { "idempotency-key": `two-${way}` };
  const body = { model: `admin/${way}`, messages: question, tools: [weather], stream_options: { include_usage: true } };
  const read = async () => (await client.chat.completions.stream(body, { headers }).finalChatCompletion()) as never;
  const [first, second] = [await read(), await read()] as { choices: unknown; usage: object }[];
  expect(second?.choices).toEqual(first?.choices);
  expect(second?.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 5 });
  expect(platform[way].requests).toHaveLength(1);
  expect(await ledger(key)).toHaveLength(1);
});

test("another body under the same key is a 400", async () => {
  platform.native.play(answering({ text: ["A"], usage }));
  const headers = { "idempotency-key": "three" };
  const ask = (content: string) =>
    platform.gantry.call("POST", "/v1/chat/completions", {
      json: { model: "admin/native", messages: [{ role: "user", content }] },
      headers,
    });
  expect((await ask("a")).status).toBe(200);
  const { status, body, headers: answered } = await ask("b");
  expect([status, body.error.code]).toEqual([400, "idempotency_key_reused"]);
  expect(answered.get("x-should-retry")).toBe("false");
});

test("a client that leaves with a key finds the whole answer when it repeats", async () => {
  const key = await platform.gantry.newUser("returns");
  const gate = Promise.withResolvers<void>();
  platform.native.play(async ({ response, dialect }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const blocks = dialect.blocks({ text: ["One", " two"], usage }).map((block) => `${block}\n\n`);
    response.write(blocks.slice(0, 2).join(""));
    await gate.promise;
    response.end(blocks.slice(2).join(""));
  });
  const client = platform.openai(key);
  const leave = new AbortController();
  const headers = { "idempotency-key": "four" };
  const body = { model: "admin/native", messages: question };
  const first = client.chat.completions.stream(body, { headers, signal: leave.signal });
  first.on("error", () => {});
  first.on("abort", () => {});
  await new Promise<void>((resolve) => first.once("content", () => resolve()));
  leave.abort();
  const second = client.chat.completions.stream(body, { headers }).finalContent();
  await waitFor("the upstream's call", () => platform.native.requests.length === 1);
  gate.resolve();
  expect(await second).toBe("One two");
  expect(platform.native.requests).toHaveLength(1);
  expect(await ledger(key)).toHaveLength(1);
});
