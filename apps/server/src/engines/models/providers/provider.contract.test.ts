import { providerTypes } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { providerScripts } from "../test-upstreams/providers/all-providers.ts";
import {
  type ProviderServer,
  pageReply,
  redirectReply,
  startProvider,
} from "../test-upstreams/providers/provider-server.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { discoverModels, type ProviderConnection, ProviderFailure, testProvider } from "./providers.ts";

const key = "sk-real-4711";
const wrong = "sk-wrong-0815";
/** Rows without a list of models. */
const withoutList = ["comfyui", "cog"];

it("has a scripted server for every kind of provider with models", () => {
  const types = Object.keys(providerTypes).filter((type) => !withoutList.includes(type));
  expect(providerScripts.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
});

describe.each(providerScripts)("$type", (script) => {
  let net: Net;
  let server: ProviderServer;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    server = await startProvider(script, key);
  });
  afterEach(async () => {
    await net.close();
    await server.close();
  });

  const connection = (more: Partial<ProviderConnection> = {}): ProviderConnection => ({
    type: script.type,
    url: server.url + script.address,
    key,
    headers: {},
    query: {},
    ...more,
  });
  const never = new AbortController().signal;
  const discover = (more?: Partial<ProviderConnection>, timeoutMs = 5000) =>
    discoverModels(net, connection(more), { signal: never, timeoutMs });
  const test = (more?: Partial<ProviderConnection>, timeoutMs = 5000) =>
    testProvider(net, connection(more), { signal: never, timeoutMs });
  const failureOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => expect.unreachable("did not fail"),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ProviderFailure);
    return error as ProviderFailure;
  };
  /** Both fail alike. The sentence has neither the key nor the server's text, and says what to do. */
  const expectFailure = async (reason: string, sentence: RegExp, more?: Partial<ProviderConnection>, ms?: number) => {
    const failure = await failureOf(discover(more, ms));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toMatch(sentence);
    const result = await test(more, ms);
    expect(result).toEqual({ ok: false, message: expect.stringMatching(sentence), latencyMs: expect.any(Number) });
    for (const text of [failure.message, result.message]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(wrong);
      expect(text).toMatch(/\. \S.*[.]$/);
    }
  };

  it("lists models that a manifest can name", async () => {
    const models = await discover();
    expect(models.length).toBeGreaterThan(0);
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
    for (const { id, title, kind, input_modalities } of models) {
      expect(id).not.toBe("");
      expect(title).not.toBe("");
      expect(["text", "embedding", "image"]).toContain(kind);
      expect(input_modalities).not.toEqual([]);
    }
    if (!providerTypes[script.type].isHosted) expect(models.every(({ pricing }) => pricing === null)).toBe(true);
  });

  it("finds the same models however the address was pasted", async () => {
    const expected = (await discover()).map(({ id }) => id);
    for (const end of ["/", "/models", "/models/"]) {
      const models = await discover({ url: server.url + script.address + end });
      expect(models.map(({ id }) => id)).toEqual(expected);
    }
  });

  it("sends the headers and the query of the provider", async () => {
    await discover({ headers: { "X-Team": "blue" }, query: { tenant: "a b" } });
    for (const { headers, path } of server.seen) {
      expect(headers["x-team"]).toBe("blue");
      expect(path).toContain("tenant=a%20b");
    }
  });

  it("passes the test with the right key", async () => {
    const result = await test();
    expect(result).toEqual({ ok: true, message: expect.stringMatching(/\.$/), latencyMs: expect.any(Number) });
    expect(result.message).not.toContain(key);
  });

  it("fails the test with a wrong key, and without one", async () => {
    const refused = await test({ key: wrong });
    expect(refused).toMatchObject({
      ok: false,
      message: expect.stringMatching(/refused the key \(status 40[01]\)\. Check/),
    });
    const missing = await test({ key: undefined });
    expect(missing).toMatchObject({ ok: false, message: expect.stringMatching(/requires a key/) });
    expect(refused.message + missing.message).not.toMatch(new RegExp(`${key}|${wrong}`));
  });

  it("says that the address is wrong", async () => {
    const { ok, message } = await test({ url: `${server.url}/nowhere` });
    expect(ok).toBe(false);
    expect(message).toMatch(/at this address|does not answer as|not JSON|web page/);
  });

  it("says that a web page answered", async () => {
    server.always.reply = pageReply;
    await expectFailure("web_page", /web page/);
  });

  it("says that the answer is not JSON", async () => {
    server.always.reply = { status: 200, headers: { "content-type": "text/plain" }, body: "OK" };
    await expectFailure("not_json", /not JSON/);
  });

  it("says that the server redirects, and does not follow", async () => {
    server.always.reply = redirectReply("http://127.0.0.1:1/v1/models");
    await expectFailure("redirect", /redirects.*https:\/\//);
  });

  it("says that the server failed", async () => {
    server.always.reply = jsonReply({ error: { message: `boom ${key}` } }, 500);
    await expectFailure("failed", /failed \(status 500\)/);
  });

  it("says that the server is busy", async () => {
    server.always.reply = jsonReply({ error: { message: "slow down" } }, 429);
    await expectFailure("busy", /status 429/);
  });

  it("rejects an answer without a list", async () => {
    server.always.reply = jsonReply({ hello: "world" });
    expect((await failureOf(discover())).reason).toBe("not_a_list");
  });

  it("recognises an error in a successful answer", async () => {
    server.always.reply = jsonReply({ error: { message: `Invalid API key ${key}` } });
    await expectFailure("key_refused", /refused the key\. Check/);
  });

  it("says that nothing listens there", async () => {
    await server.close();
    await expectFailure("connection_refused", /^Nothing listens at http:\/\/127\.0\.0\.1:\d+\. /);
  });

  it("says that the server did not answer in time", async () => {
    server.always.reply = "hang";
    await expectFailure("timeout", /did not answer in time/, {}, 60);
  });

  it("says which setting allows a private address", async () => {
    const guarded = createNet({ allowPrivateNetwork: false });
    try {
      const { ok, message } = await testProvider(guarded, connection(), { signal: never });
      expect(ok).toBe(false);
      const { host } = new URL(server.url);
      expect(message).toContain(`add ${host} to GANTRY_ALLOW_PRIVATE_NETWORK.`);
      expect(server.seen).toEqual([]);
    } finally {
      await guarded.close();
    }
  });

  it("stops when the caller cancels", async () => {
    server.always.reply = "hang";
    for (const run of [discoverModels, testProvider]) {
      const cancel = new AbortController();
      const work = run(net, connection(), { signal: cancel.signal });
      const seen = server.seen.length;
      await expect.poll(() => server.seen.length).toBeGreaterThan(seen);
      cancel.abort(new Error("left"));
      await expect(work).rejects.toThrow("left");
      await expect.poll(() => server.seen.at(-1)?.leftAt).toBeDefined();
    }
  });

  it("does not read an endless answer", async () => {
    server.odd.call.push(...Array.from({ length: 6 }, () => ({ kind: "endless" as const, piece: " ".repeat(65_536) })));
    expect((await failureOf(discover())).reason).toBe("too_large");
  });

  it("ignores entries that are not models", async () => {
    const field = script.type === "gemini" || script.type === "ollama" ? "models" : "data";
    const odd = [null, 7, "gpt", [], {}, { id: 5, name: 5 }, { id: "", name: "" }, { id: "a\nb", name: "a\u202eb" }];
    server.always.reply = jsonReply({ [field]: [...odd, { id: "x".repeat(300), name: "x".repeat(300) }] });
    expect(await discover()).toEqual([]);
  });
});
