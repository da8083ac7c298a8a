import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { type ScriptedAnthropic, sendJson, startScriptedAnthropic } from "../../support/scripted-anthropic.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;
let upstream: ScriptedAnthropic;

beforeAll(async () => {
  llm = await startScriptedLlm();
  upstream = await startScriptedAnthropic();
  gantry = await startGantry();
  const backend = { type: "anthropic", url: upstream.url, model: "claude-real" };
  await createModels(gantry, {
    chat: chatModel(llm.url),
    priced: chatModel(llm.url, { pricing: { per_million_output_tokens: 1_000_000 } }),
    claude: chatModel("", { backend }),
  });
  await gantry.call("PUT", "/api/v2/admin/plans/two", { json: { requests_per_minute: 2, parallel: null } });
});

afterAll(async () => {
  await gantry.close();
  await llm.close();
  await upstream.close();
});

const base = { model: "admin/chat", max_tokens: 100, messages: [{ role: "user" as const, content: "Hello" }] };

/** A client that counts its requests. */
function clientOf(apiKey: string, options: { maxRetries?: number } = {}) {
  const sent: string[] = [];
  const client = new Anthropic({
    baseURL: gantry.url,
    apiKey,
    maxRetries: 0,
    ...options,
    fetch: (url, init) => {
      sent.push(String(url));
      return fetch(url, init);
    },
  });
  return { client, sent };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable("not refused"),
    (error: unknown) => error as InstanceType<typeof Anthropic.APIError>,
  );

describe("an error", () => {
  test("of an invalid key", async () => {
    const { client, sent } = clientOf("no-such-key", { maxRetries: 2 });
    const error = await failureOf(client.messages.create(base));
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error.error).toEqual({
      type: "error",
      error: { type: "authentication_error", message: expect.stringMatching(/./) },
      request_id: error.requestID,
    });
    expect(error.headers?.get("x-should-retry")).toBeNull();
    expect(sent).toHaveLength(1);
  });

  test("of a model that does not exist, or is not for this key", async () => {
    const key = await gantry.newUser("confined", { key: { models: ["admin/priced"] } });
    for (const [apiKey, model] of [
      [gantry.adminKey, "admin/none"],
      [gantry.adminKey, "claude-sonnet"],
      [key, "admin/chat"],
    ] as const) {
      const error = await failureOf(clientOf(apiKey).client.messages.create({ ...base, model }));
      expect(error).toBeInstanceOf(Anthropic.NotFoundError);
      expect(error).toMatchObject({ type: "not_found_error", apiMessage: expect.stringContaining(model) });
    }
  });

  test("of a model of another kind names the field", async () => {
    const error = await failureOf(clientOf(gantry.adminKey).client.messages.create({ ...base, model: "gantry/image" }));
    expect(error).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      apiMessage: expect.stringMatching(/^model: /),
    });
  });

  test("of missing funds is not repeated", async () => {
    const key = await gantry.newUser("poor", { credit: 0 });
    const { client, sent } = clientOf(key, { maxRetries: 2 });
    llm.script = inTurn({ text: "ok" });
    // A balance may fall below zero by one reservation.
    await client.messages.create({ ...base, model: "admin/priced" });
    const error = await failureOf(client.messages.create({ ...base, model: "admin/priced" }));
    expect(error).toMatchObject({ status: 402, type: "billing_error" });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(sent).toHaveLength(2);
  });

  test("of a rate limit says when to retry", async () => {
    const key = await gantry.newUser("hurried", { plan: "two" });
    llm.script = inTurn({ text: "ok" });
    const { client } = clientOf(key);
    await client.messages.create(base);
    await client.messages.create(base);
    const error = await failureOf(client.messages.create(base));
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect(error.type).toBe("rate_limit_error");
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
    expect(error.headers?.get("x-should-retry")).toBe("true");
  });

  test("of a busy upstream is repeated by the official client, one of a broken upstream is not", async () => {
    const { client, sent } = clientOf(gantry.adminKey, { maxRetries: 1 });
    // Gantry tries three times by itself.
    llm.script = inTurn({ status: 503 }, { status: 503 }, { status: 503 }, { text: "ok" });
    expect((await client.messages.create(base)).content).toMatchObject([{ text: "ok" }]);
    expect(sent).toHaveLength(2);
    llm.script = inTurn({ status: 500 });
    const error = await failureOf(client.messages.create(base));
    expect(error).toMatchObject({ status: 502, type: "api_error" });
    expect(sent).toHaveLength(3);
  });

  test.each<[what: string, body: string, status: number]>([
    ["a body that is not JSON", "{", 400],
    ["a body that is not an object", "[]", 400],
    ["no model", "{}", 400],
    ["a name that changes prototypes", '{"__proto__":{}}', 400],
  ])("of %s has Anthropic's form", async (_, body, status) => {
    const headers = { "content-type": "application/json", "x-api-key": gantry.adminKey };
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const answer = await fetch(gantry.url + path, { method: "POST", headers, body });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toEqual({
        type: "error",
        error: { type: "invalid_request_error", message: expect.stringMatching(/./) },
        request_id: answer.headers.get("request-id"),
      });
    }
  });
});

describe("counting tokens", () => {
  const count = { model: "admin/chat", messages: base.messages };
  const rows = async (key: string) => (await gantry.call("GET", "/api/v2/usage", { key })).body.results.length;

  test("is estimated for other backends, free and without a usage row", async () => {
    const key = await gantry.newUser("counter", { credit: 0 });
    const { client } = clientOf(key);
    const short = (await client.messages.countTokens(count)).input_tokens;
    const long = await client.messages.countTokens({ ...count, system: "word ".repeat(1000) });
    expect(short).toBeGreaterThan(0);
    expect(short).toBeLessThan(50);
    expect(long.input_tokens - short).toBeGreaterThan(900);
    const source = { type: "base64" as const, media_type: "image/png" as const, data: "A".repeat(100_000) };
    const messages = [{ role: "user" as const, content: [{ type: "image" as const, source }] }];
    expect((await client.messages.countTokens({ ...count, messages })).input_tokens).toBeLessThan(2000);
    expect(await rows(key)).toBe(0);
  });

  test("is asked of a backend of type anthropic, with its model's name", async () => {
    upstream.play = (_, response) => sendJson(response, { input_tokens: 4711 });
    const { client } = clientOf(gantry.adminKey);
    const betas = ["context-1m-2025-08-07"];
    const counted = await client.beta.messages.countTokens({ ...count, model: "admin/claude", betas });
    expect(counted.input_tokens).toBe(4711);
    const { path, body, headers } = upstream.requests.at(-1) ?? {};
    expect(path).toBe("/v1/messages/count_tokens");
    expect(body).toEqual({ ...count, model: "claude-real" });
    expect(headers?.["anthropic-beta"]).toContain("context-1m-2025-08-07");
  });

  test("is estimated where a server of that protocol does not count", async () => {
    upstream.play = (_, response) => sendJson(response, { type: "error" }, 404);
    const counted = await clientOf(gantry.adminKey).client.messages.countTokens({ ...count, model: "admin/claude" });
    expect(counted.input_tokens).toBeGreaterThan(0);
  });

  test("counts for the rate limit", async () => {
    const { client } = clientOf(await gantry.newUser("keen", { plan: "two" }));
    await client.messages.countTokens(count);
    await client.messages.countTokens(count);
    expect(await failureOf(client.messages.countTokens(count))).toBeInstanceOf(Anthropic.RateLimitError);
  });

  test("names what is missing", async () => {
    const json = { model: "admin/chat" };
    const answer = await gantry.call("POST", "/v1/messages/count_tokens", { json });
    expect([answer.status, answer.body.error.message]).toEqual([400, "messages: Field required"]);
  });
});

test("the official client lists models in Anthropic's form", async () => {
  const { client } = clientOf(gantry.adminKey);
  const ids: string[] = [];
  for await (const model of client.models.list()) {
    expect(model).toMatchObject({ type: "model", display_name: expect.any(String), created_at: expect.any(String) });
    ids.push(model.id);
  }
  expect(ids).toContain("admin/chat");
  expect(await client.models.retrieve("admin/chat")).toMatchObject({ id: "admin/chat", type: "model" });
});
