import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import type { EmbeddingCall } from "../embeddings.ts";
import { callWith, faultOf } from "../media/backend.contract.ts";
import { type EmbeddingServer, startOpenAiEmbeddings, vectorOf } from "../test-upstreams/embedding-server.ts";
import { keyed } from "../test-upstreams/keyed.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { countTokens } from "../token-count.ts";
import { UpstreamFailure } from "../upstream.ts";
import { createOpenAiEmbeddings } from "./embeddings.ts";

const secret = "sk-embed-4711";
const texts = ["a boat", "zwölf Boote", "船"];

describe("openai-embeddings", () => {
  let net: Net;
  let upstream: EmbeddingServer;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startOpenAiEmbeddings(secret);
    await countTokens("x");
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
  });

  const driver = (key = secret) =>
    createOpenAiEmbeddings({ net, url: `${upstream.url}/v1/`, model: "m-1", ...keyed(key) });
  const embed = (more: Partial<EmbeddingCall> = {}, by = driver()) =>
    by.embed({ predictionId: "pred_1", texts, signal: new AbortController().signal, ...more });
  const sent = (n = 0) => JSON.parse(String(upstream.seen[n]?.body));
  const expected = (dimensions = 4) => texts.map((text) => new Float32Array(vectorOf(text, dimensions)));

  it("asks for base64 and returns one vector for each text", async () => {
    const { vectors, usage } = await embed();
    expect(vectors).toEqual(expected());
    expect(usage).toEqual({ inputTokens: 8, outputTokens: 0 });
    expect(sent()).toEqual({ model: "m-1", input: texts, encoding_format: "base64" });
    expect(upstream.seen[0]?.headers).toMatchObject({ "idempotency-key": "pred_1" });
  });

  it("sends dimensions and further fields, but its own model and texts", async () => {
    const { vectors } = await embed({ dimensions: 7, extra: { user: "u-1", model: "other", input: "other" } });
    expect(vectors).toEqual(expected(7));
    expect(sent()).toEqual({ user: "u-1", model: "m-1", input: texts, encoding_format: "base64", dimensions: 7 });
  });

  it("reads floats of a server that ignores the format", async () => {
    upstream.as.format = "float";
    expect((await embed()).vectors).toEqual(expected());
  });

  it("stops asking for base64 if a server refuses it", async () => {
    const refused = { error: { message: "encoding_format: unknown value 'base64'" } };
    upstream.odd.call.push({ kind: "reply", reply: jsonReply(refused, 400) });
    upstream.as.format = "float";
    const one = driver();
    expect((await embed({}, one)).vectors).toEqual(expected());
    expect((await embed({}, one)).vectors).toEqual(expected());
    expect([0, 1, 2].map((n) => sent(n).encoding_format)).toEqual(["base64", undefined, undefined]);
  });

  it("orders vectors by their index", async () => {
    upstream.as.change = (entries) => entries.reverse();
    expect((await embed()).vectors).toEqual(expected());
  });

  it("keeps the order of a server without indexes", async () => {
    upstream.as.change = (entries) => entries.map(({ embedding }) => ({ embedding }));
    expect((await embed()).vectors).toEqual(expected());
  });

  it.each([
    ["missing", undefined],
    ["zero", { prompt_tokens: 0, total_tokens: 0 }],
    ["not a number", { prompt_tokens: "8" }],
    ["a fraction", { prompt_tokens: 1.5 }],
    ["impossibly large", { prompt_tokens: 1e12 }],
  ])("counts the tokens if the usage is %s", async (_name, usage) => {
    upstream.as.usage = usage;
    expect((await embed()).usage).toEqual({
      inputTokens: await countTokens(texts.join("\n")),
      outputTokens: 0,
      estimated: true,
    });
  });

  it("reads the total if the usage has nothing else", async () => {
    upstream.as.usage = { total_tokens: 9 };
    expect((await embed()).usage).toEqual({ inputTokens: 9, outputTokens: 0 });
  });

  const first = (embedding: unknown) => (entries: object[]) => [{ ...entries[0], embedding }, ...entries.slice(1)];
  const twoFloats = Buffer.from(new Float32Array([1, 2]).buffer).toString("base64");
  const infinite = Buffer.from(new Float32Array([1, 2, Number.NaN, 4]).buffer).toString("base64");
  it.each([
    ["too few vectors", (entries: object[]) => entries.slice(1)],
    ["too many vectors", (entries: object[]) => [...entries, { ...entries[0], index: 3 }]],
    ["a repeated index", (entries: object[]) => entries.map((entry) => ({ ...entry, index: 0 }))],
    ["an index that is not a number", (entries: object[]) => entries.map((entry) => ({ ...entry, index: "0" }))],
    ["vectors of different length", first(twoFloats)],
    ["an empty vector", (entries: object[]) => entries.map((entry) => ({ ...entry, embedding: [] }))],
    ["no vector", first(null)],
    ["a vector of texts", first(["1", "2", "3", "4"])],
    ["a number that is not finite", first(infinite)],
    ["a number beyond 32 bits", first([1e300, 0, 0, 0])],
    ["bytes that are not floats", first("AAAAAA==")],
    ["a text that is not base64", first("!!!!!!!!!!!!!!!!!!!!!!==")],
    ["entries that are not objects", () => [null, 1, "x"]],
  ])("fails on %s", async (_name, change) => {
    upstream.as.change = change;
    expect(await faultOf(embed())).toMatchObject({ type: "downstream_service_error", status: 502 });
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([
    ["an error", { error: { message: "not loaded" } }],
    ["a list", [1]],
    ["nothing", {}],
  ])("fails on a 200 with %s instead of vectors", async (_name, body) => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply(body) });
    expect((await faultOf(embed())).type).toBe("downstream_service_error");
  });

  it("keeps the sentence of a 400 for the caller's route, without the key", async () => {
    const message = `This model's maximum context length is 8192 tokens (${secret})`;
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { message } }, 400) });
    const refused = await faultOf(embed());
    expect(refused).toMatchObject({ type: "downstream_service_error", retryable: false });
    expect(refused.cause).toBeInstanceOf(UpstreamFailure);
    expect(refused.cause).toMatchObject({ status: 400, body: expect.stringContaining("maximum context length") });
    expect((refused.cause as UpstreamFailure).body).not.toContain(secret);
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([401, 404, 500])("fails on a %i without its text", async (status) => {
    for (let n = 0; n < 3; n++) {
      upstream.odd.call.push({ kind: "reply", reply: jsonReply({ error: { message: "db.internal" } }, status) });
    }
    const refused = await faultOf(embed());
    expect(refused).toMatchObject({ type: "downstream_service_error", status: 502 });
    expect(JSON.stringify(refused.issues)).not.toContain("db.internal");
  });

  it("retries a 503 and a reset, and tells when a 429 may be repeated", async () => {
    upstream.odd.call.push({ kind: "reply", reply: jsonReply({}, 503) }, { kind: "reset" });
    expect((await embed()).vectors).toEqual(expected());
    expect(upstream.seen).toHaveLength(3);
    const headers = { "content-type": "application/json", "retry-after": "60" };
    upstream.odd.call.push({ kind: "reply", reply: { status: 429, headers, body: "{}" } });
    const busy = await faultOf(embed());
    expect(busy).toMatchObject({ type: "downstream_service_unavailable", retryAfterSeconds: 60, retryable: true });
  });

  it("stops the upstream within 100 ms of an abort", async () => {
    const times: number[] = [];
    // The machine may be busy, so the best of three counts.
    for (let n = 0; n < 3; n++) {
      upstream.odd.call.push({ kind: "hang" });
      const stop = new AbortController();
      const running = embed({ signal: stop.signal });
      running.catch(() => {});
      await expect.poll(() => upstream.seen.length).toBe(n + 1);
      const stoppedAt = performance.now();
      stop.abort(new Error("the client left"));
      await expect(running).rejects.toThrow("the client left");
      await expect.poll(() => upstream.seen[n]?.leftAt, { interval: 5 }).toBeDefined();
      times.push((upstream.seen[n]?.leftAt ?? 0) - stoppedAt);
    }
    expect(Math.min(...times)).toBeLessThan(100);
  });

  it("ends an answer that is longer than vectors can be", async () => {
    upstream.odd.call.push({ kind: "endless", piece: " ".repeat(65_536) });
    expect((await faultOf(embed())).type).toBe("downstream_service_error");
    await expect.poll(() => upstream.seen[0]?.leftAt).toBeDefined();
  });

  it("answers a prediction with lists of numbers", async () => {
    const result = await driver().run(callWith({ input: texts, dimensions: 3, user: "u" }));
    expect(result).toEqual({
      output: { embeddings: texts.map((text) => vectorOf(text, 3)) },
      usage: { inputTokens: 8, outputTokens: 0 },
    });
    expect(sent()).toMatchObject({ input: texts, dimensions: 3, user: "u" });
  });

  it("refuses a prediction with more numbers than a result can store", async () => {
    upstream.as.dimensions = 3_000;
    const many = Array.from({ length: 200 }, (_, n) => `text ${n}`);
    const refused = await faultOf(driver().run(callWith({ input: many })));
    expect(refused).toMatchObject({ type: "sequence_too_long", status: 422 });
    expect((await embed({ texts: many })).vectors).toHaveLength(200);
  });
});
