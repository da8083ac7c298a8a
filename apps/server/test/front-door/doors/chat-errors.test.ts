import OpenAI from "openai";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answering, refusing } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { upstreamKey, useDoorsPlatform } from "../../support/doors-platform.ts";
import type { CallOptions } from "../../support/gantry.ts";

const platform = useDoorsPlatform();
const question = [{ role: "user" as const, content: "Say hello." }];
const usage = { input: 9, output: 5 };
const ways = ["native", "translated"] as const;

beforeEach(() => {
  for (const way of ways) platform[way].play(answering({ text: ["Hello."], usage }));
});

function ask(body: object, options: CallOptions = {}) {
  const json = { model: "admin/native", messages: question, ...body };
  return platform.gantry.call("POST", "/v1/chat/completions", { json, ...options });
}

describe("in both dialects", () => {
  let poor: string;
  let limited: string;

  beforeAll(async () => {
    const { gantry } = platform;
    poor = await gantry.newUser("poor", { key: { monthly_limit: 0.001 } });
    await gantry.call("PUT", "/api/v2/admin/plans/one", { json: { requests_per_minute: 1, parallel: 5 } });
    limited = await gantry.newUser("limited", { plan: "one" });
  });

  /** The status, OpenAI's type and code, Anthropic's type, and `x-should-retry`. */
  const failures: [
    what: string,
    () => Promise<[body: object, CallOptions]>,
    status: number,
    string,
    string | null,
    string,
    string | null,
  ][] = [
    [
      "a missing key",
      async () => [{}, { key: "" }],
      401,
      "invalid_request_error",
      "invalid_api_key",
      "authentication_error",
      null,
    ],
    [
      "a wrong key",
      async () => [{}, { key: "wrong" }],
      401,
      "invalid_request_error",
      "invalid_api_key",
      "authentication_error",
      null,
    ],
    [
      "a caller without funds",
      async () => [{}, { key: poor }],
      402,
      "insufficient_quota",
      "insufficient_quota",
      "billing_error",
      "false",
    ],
    [
      "an unknown model",
      async () => [{ model: "admin/none" }, {}],
      404,
      "invalid_request_error",
      "model_not_found",
      "not_found_error",
      "false",
    ],
    [
      "an unknown alias",
      async () => [{ model: "gpt-none" }, {}],
      404,
      "invalid_request_error",
      "model_not_found",
      "not_found_error",
      "false",
    ],
    [
      "an unknown agent",
      async () => [{ model: "agents/a/b" }, {}],
      404,
      "invalid_request_error",
      "model_not_found",
      "not_found_error",
      "false",
    ],
    [
      "a model of another kind",
      async () => [{ model: "gantry/image" }, {}],
      400,
      "invalid_request_error",
      "value_error",
      "invalid_request_error",
      "false",
    ],
    [
      "a faulty field",
      async () => [{ messages: 5 }, {}],
      400,
      "invalid_request_error",
      "value_error",
      "invalid_request_error",
      "false",
    ],
    [
      "a rate limit",
      async () => [{}, { key: limited }],
      429,
      "rate_limit_error",
      "rate_limit_exceeded",
      "rate_limit_error",
      "true",
    ],
  ];

  test.each(failures)("%s", async (_what, request, status, type, code, anthropicType, shouldRetry) => {
    const [body, options] = await request();
    // Uses up the limit of one request.
    if (status === 429) await ask(body, options);
    const before = platform.native.requests.length;
    const openai = await ask(body, options);
    expect(openai.status, openai.text).toBe(status);
    expect(openai.body).toEqual({ error: { message: expect.any(String), type, param: openai.body.error.param, code } });
    const json = { model: "admin/native", max_tokens: 8_192, messages: question, ...body };
    const other = await platform.gantry.call("POST", "/v1/messages", { json, ...options });
    expect(other.status).toBe(status);
    expect(other.body).toMatchObject({ type: "error", error: { type: anthropicType, message: expect.any(String) } });
    expect(other.body.request_id).toBe(other.headers.get("x-request-id"));
    for (const { headers } of [openai, other]) {
      expect(headers.get("x-should-retry")).toBe(shouldRetry);
      expect(headers.get("content-type")).toMatch(/^application\/json/);
      if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(platform.native.requests).toHaveLength(before);
  });
});

test("the official client recognizes the errors", async () => {
  const broke = platform.openai("wrong").chat.completions.create({ model: "gantry/text", messages: question });
  await expect(broke).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  const unknown = platform.openai().chat.completions.create({ model: "admin/none", messages: question });
  await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  const faulty = platform.openai().chat.completions.create({ model: "gantry/text", messages: question, n: 2 });
  await expect(faulty).rejects.toMatchObject({ status: 400, param: "n", type: "invalid_request_error" });
});

test("models of others are unknown: private, inactive, or not among those of the key", async () => {
  await platform.makeModel("private", "native", { visibility: "private" });
  await platform.makeModel("inactive", "native", { capacity: 0 });
  const key = await platform.gantry.newUser("other");
  const confined = await platform.gantry.newUser("confined", { key: { models: ["gantry/text"] } });
  const refused = [
    await ask({ model: "admin/private" }, { key }),
    await ask({ model: "admin/inactive" }, { key }),
    await ask({ model: "admin/native" }, { key: confined }),
  ];
  for (const { status, body } of refused) {
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ code: "model_not_found", param: "model" });
  }
  expect((await ask({ model: "gantry/text" }, { key: confined })).status).toBe(200);
});

test("the whole message list is reserved before the upstream is called", async () => {
  const key = await platform.gantry.newUser("thrifty", { key: { monthly_limit: 0.02 } });
  const long = Array.from({ length: 40 }, (_, n) => ({ role: "user", content: `${n} lighthouse `.repeat(300) }));
  for (const way of ways) {
    platform[way].play(answering({ text: ["Hello."], usage }));
    const body = { model: `admin/${way}`, max_tokens: 10 };
    const { status, body: answer } = await ask({ ...body, messages: long }, { key });
    expect([status, answer.error.code]).toEqual([402, "insufficient_quota"]);
    expect(platform[way].requests).toEqual([]);
    // Schemas of tools are read by the model too.
    const tool = { type: "function", function: { name: "f", description: "lighthouse ".repeat(30_000) } };
    expect((await ask({ ...body, tools: [tool] }, { key })).status).toBe(402);
    expect((await ask(body, { key })).status).toBe(200);
  }
});

test("an image is reserved, in a relayed request too", async () => {
  const key = await platform.gantry.newUser("painter", { key: { monthly_limit: 0.001 } });
  const url =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  for (const way of ways) {
    const content = [{ type: "image_url", image_url: { url } }];
    const body = { model: `admin/${way}`, max_tokens: 10, messages: [{ role: "user", content }] };
    expect((await ask(body, { key })).status).toBe(402);
  }
});

test("an output limit is sent upstream if the client does not give one", async () => {
  await platform.makeModel("bounded", "native", { max_output_tokens: 321 });
  await platform.makeModel("small", "translated", { context_window: 300 });
  await ask({ model: "admin/bounded" });
  expect(platform.native.requests[0]?.body).toMatchObject({ max_tokens: 321 });
  await ask({ model: "admin/small" });
  expect(platform.translated.requests[0]?.body.max_tokens).toBeLessThan(300);
});

describe.each(ways)("failures of the %s upstream", (way) => {
  test.each([false, true])("before the first byte have a status of their own (stream: %s)", async (stream) => {
    const model = `admin/${way}`;
    platform[way].play(refusing(429, "slow down", { "retry-after": "30" }));
    const busy = await ask({ model, stream });
    expect([busy.status, busy.headers.get("retry-after"), busy.headers.get("x-should-retry")]).toEqual([
      503,
      "30",
      "true",
    ]);
    platform[way].play(refusing(500, "broken"));
    const broken = await ask({ model, stream });
    expect([broken.status, broken.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(broken.body.error).toMatchObject({ type: "server_error" });
    expect(broken.headers.get("x-gantry-prediction-id")).toMatch(/^pred_/);
  });

  test.each([false, true])("about the request pass its sentence as a 400 (stream: %s)", async (stream) => {
    platform[way].play(refusing(400, `prompt is too long: 300000 tokens for ${upstreamKey}`));
    const { status, body, headers } = await ask({ model: `admin/${way}`, stream });
    expect(status).toBe(400);
    expect(body.error.message).toContain("prompt is too long: 300000 tokens");
    expect(body.error.message).not.toContain(upstreamKey);
    expect(headers.get("x-should-retry")).toBe("false");
  });

  test("about our credential do not leak", async () => {
    platform[way].play(refusing(401, "invalid key sk-other of team 9"));
    const { status, body } = await ask({ model: `admin/${way}` });
    expect(status).toBe(502);
    expect(JSON.stringify(body)).not.toMatch(/sk-other|team 9/);
    const client = platform.openai(platform.gantry.adminKey, { maxRetries: 2 });
    const before = platform[way].requests.length;
    await expect(client.chat.completions.create({ model: `admin/${way}`, messages: question })).rejects.toMatchObject({
      status: 502,
    });
    expect(platform[way].requests).toHaveLength(before + 1);
  });
});
