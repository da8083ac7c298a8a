import type { ProviderType } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import { outside } from "../../net/egress-proxy.fixture.ts";
import type { Net } from "../../net/net.ts";
import { providerScripts } from "../test-upstreams/providers/all-providers.ts";
import {
  type ProviderScript,
  type ProviderServer,
  startProvider,
} from "../test-upstreams/providers/provider-server.ts";
import { llamaCpp, ollama } from "../test-upstreams/providers/self-hosted.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { testProvider } from "./providers.ts";

const key = "sk-real-4711";
const signal = new AbortController().signal;

describe("testProvider", () => {
  let net: Net;
  const servers: ProviderServer[] = [];
  beforeEach(() => {
    net = createNet({ allowPrivateNetwork: true });
  });
  afterEach(async () => {
    await net.close();
    for (const server of servers.splice(0)) await server.close();
  });

  const scriptOf = (type: ProviderType) => providerScripts.find((script) => script.type === type) as ProviderScript;
  const start = async (script: ProviderScript, withKey: string | undefined) => {
    const server = await startProvider(script, withKey);
    servers.push(server);
    return server;
  };
  const test = (type: ProviderType, url: string, more: { key?: string | undefined; model?: string } = {}) =>
    testProvider(net, { type, url, key: more.key, headers: {}, query: {} }, { model: more.model, signal });
  const sentence = async (...given: Parameters<typeof test>) => (await test(...given)).message;

  it.each<[ProviderType, string, string[]]>([
    ["openai", "OpenAI accepted the key and has 6 models.", ["GET /v1/models"]],
    ["openrouter", "OpenRouter accepted the key.", ["GET /api/v1/key"]],
    ["azure", "Azure OpenAI accepted the key.", ["GET /openai/v1/models"]],
    ["azure-deployments", "Azure OpenAI (deployments) accepted the key.", ["GET /openai/models"]],
    ["vllm", 'vLLM answered with "Qwen/Qwen3-8B".', ["GET /v1/models", "POST /v1/chat/completions"]],
    [
      "openai-compatible",
      'The server answered with "claude".',
      ["GET /v1/models", "GET /model/info", "POST /v1/chat/completions"],
    ],
  ])("checks the key of %s with the cheapest call", async (type, message, calls) => {
    const script = scriptOf(type);
    const server = await start(script, key);
    expect(await test(type, server.url + script.address, { key })).toMatchObject({ ok: true, message });
    expect(server.calls()).toEqual(calls);
  });

  it("does not load a model of a server without a key", async () => {
    const server = await start(ollama, undefined);
    expect(await sentence("ollama", server.url)).toBe("Ollama is reachable and has 4 models.");
    expect(server.calls()).not.toContain("POST /v1/chat/completions");
  });

  it("asks a model for one token", async () => {
    const server = await start(ollama, undefined);
    expect(await sentence("ollama", server.url, { model: "llama3.2:latest" })).toBe(
      'Ollama answered with "llama3.2:latest".',
    );
    expect(server.calls()).toEqual(["POST /v1/chat/completions"]);
    expect(JSON.parse(String(server.seen[0]?.body))).toMatchObject({ model: "llama3.2:latest", max_tokens: 1 });
  });

  it("tolerates models that refuse a limit of one token", async () => {
    const script = scriptOf("openai");
    const server = await start(script, key);
    expect(await test("openai", server.url, { key, model: "gpt-5.2" })).toMatchObject({ ok: true });
    expect(server.seen.map(({ body }) => Object.keys(JSON.parse(String(body))))).toEqual([
      ["model", "messages", "max_tokens"],
      ["model", "messages", "max_completion_tokens"],
    ]);
  });

  it("tolerates a model that thinks until the limit", async () => {
    const server = await start(scriptOf("openai"), key);
    const message = "Could not finish the message because max_tokens or model output limit was reached.";
    server.always.reply = jsonReply({ error: { message, type: "invalid_request_error", code: null } }, 400);
    expect(await test("openai", server.url, { key, model: "o3" })).toMatchObject({ ok: true });
  });

  it.each<[ProviderType, string, string]>([
    ["anthropic", "claude-opus-5", "POST /v1/messages"],
    ["gemini", "gemini-2.5-flash", "POST /v1beta/models/gemini-2.5-flash:generateContent"],
    ["azure-deployments", "chat-prod", "POST /openai/deployments/chat-prod/chat/completions"],
    ["bedrock", "anthropic.claude-opus-4-8", "POST /anthropic/v1/messages"],
  ])("calls a model of %s by its own protocol", async (type, model, route) => {
    const script = scriptOf(type);
    const server = await start(script, key);
    expect(await test(type, server.url + script.address, { key, model })).toMatchObject({ ok: true });
    expect(server.calls()).toEqual([route]);
  });

  it("tests a model for embeddings with a text", async () => {
    const answer = { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.1] }] };
    const server = await start({ ...ollama, routes: { "POST /v1/embeddings": () => answer } }, undefined);
    expect(await test("ollama", server.url, { model: "nomic-embed-text" })).toMatchObject({ ok: true });
  });

  it("looks a model for pictures up", async () => {
    const server = await start(scriptOf("openai"), key);
    expect(await sentence("openai", server.url, { key, model: "dall-e-3" })).toBe('OpenAI has "dall-e-3".');
    expect(await sentence("openai", server.url, { key, model: "dall-e-9" })).toBe(
      'OpenAI does not have the model "dall-e-9". Choose one of the listed models.',
    );
  });

  it("says that a model does not exist", async () => {
    const message = "model 'nope' not found";
    const server = await start(ollama, undefined);
    server.always.reply = jsonReply({ error: { message, type: "not_found_error", param: null, code: null } }, 404);
    expect(await sentence("ollama", server.url, { model: "nope" })).toBe(
      'Ollama does not have the model "nope" (status 404). Choose one of the listed models.',
    );
    const azure = await start(scriptOf("azure-deployments"), key);
    expect(await sentence("azure-deployments", azure.url, { key, model: "missing" })).toContain('the model "missing"');
  });

  it("says that a model does not chat", async () => {
    const server = await start(ollama, undefined);
    server.always.reply = jsonReply({ error: { message: '"x" does not support chat' } }, 400);
    expect(await sentence("ollama", server.url, { model: "x" })).toBe(
      'Ollama refused a chat with "x" (status 400). Choose a chat model.',
    );
  });

  it.each<[ProviderType, string]>([
    ["ollama", "Ollama has no models that Gantry can call. Pull one with `ollama pull llama3.2`."],
    ["lmstudio", "LM Studio has no models that Gantry can call. Download one with `lms get`."],
  ])("says how to get a model for %s", async (type, message) => {
    const empty = {
      "GET /api/tags": () => ({ models: [] }),
      "GET /api/v0/models": () => ({ data: [], object: "list" }),
    };
    const server = await start({ ...scriptOf(type), routes: empty }, undefined);
    expect(await test(type, server.url)).toMatchObject({ ok: false, message });
  });

  const kinds: ProviderType[] = ["ollama", "lmstudio", "llamacpp", "vllm", "sglang"];
  const labels: Partial<Record<ProviderType, string>> = {
    ollama: "Ollama",
    lmstudio: "LM Studio",
    llamacpp: "llama.cpp",
    vllm: "vLLM",
    sglang: "SGLang",
  };
  it.each(kinds.flatMap((real) => kinds.filter((given) => given !== real).map((given) => [real, given] as const)))(
    "recognises %s at the address of %s",
    async (real, given) => {
      const server = await start(scriptOf(real), undefined);
      expect(await test(given, server.url)).toMatchObject({
        ok: false,
        message: `The server is ${labels[real]}, not ${labels[given]}. Choose the type ${labels[real]}.`,
      });
    },
  );

  it("recognises llama.cpp behind an imitation of Ollama's list", async () => {
    const { "GET /v1/models": list } = llamaCpp.routes;
    const server = await start({ ...llamaCpp, routes: { "GET /api/tags": list ?? (() => ({})) } }, undefined);
    expect(await sentence("ollama", server.url)).toBe(
      "The server is llama.cpp, not Ollama. Choose the type llama.cpp.",
    );
  });

  it("proposes the general type for a server that it does not know", async () => {
    const routes = { "GET /v1/models": () => ({ object: "list", data: [{ id: "m", owned_by: "acme" }] }) };
    const server = await start({ ...scriptOf("openai-compatible"), routes }, undefined);
    expect(await sentence("ollama", server.url)).toMatch(
      /^The server does not answer as Ollama does\. Choose the type/,
    );
    expect(await test("vllm", server.url)).toMatchObject({ ok: true });
  });

  it("waits for llama.cpp to load its model", async () => {
    const server = await start(llamaCpp, undefined);
    const error = { message: "Loading model", type: "unavailable_error", code: 503 };
    server.always.reply = jsonReply({ error }, 503);
    expect(await sentence("llamacpp", server.url)).toBe(
      "llama.cpp is still loading its model (status 503). Try again in a minute.",
    );
  });

  it("says how the address must end", async () => {
    const server = await start(scriptOf("openai-compatible"), undefined);
    expect(await sentence("openai-compatible", `${server.url}/api`)).toBe(
      "The server has no list of models at this address (status 404). The address must end with /v1.",
    );
    expect(await sentence("openai-compatible", `${server.url}/other/v1`)).toMatch(/Check the address\.$/);
  });

  it.each<[ProviderType, string]>([
    ["ollama", "Is Ollama running? Start it with `ollama serve`."],
    ["openai", "Check the address and that this machine can reach it."],
  ])("says what to do if nothing listens at the address of %s", async (type, advice) => {
    const server = await start(ollama, undefined);
    await server.close();
    expect(await sentence(type, server.url, { key })).toBe(`Nothing listens at ${server.url}. ${advice}`);
  });

  it("says that a name does not exist", async () => {
    expect(await sentence("vllm", "http://gantry-test.invalid:8000")).toMatch(
      /^The name gantry-test\.invalid:8000 does not exist\. Check the address\.$/,
    );
  });

  it("says that TLS is not there", async () => {
    const server = await start(ollama, undefined);
    expect(await sentence("ollama", server.url.replace("http:", "https:"))).toMatch(
      /^No trusted TLS connection to 127\.0\.0\.1:\d+\. Check its certificate, or use http:\/\//,
    );
  });

  it.each(["", "ftp://llm.example", "https://user:pass@llm.example"])("refuses the address %j", async (url) => {
    expect(await test("openai-compatible", url)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^The address is (?:missing|not valid)\. Enter/),
    });
  });

  it("refuses a key that cannot be sent", async () => {
    const server = await start(ollama, undefined);
    expect(await test("ollama", server.url, { key: "a\r\nx-b: c" })).toMatchObject({ ok: false });
    expect(server.seen).toEqual([]);
  });

  it("does not blame the server for the egress proxy", async () => {
    const server = await start(ollama, undefined);
    await server.close();
    const proxied = createNet({ allowPrivateNetwork: false, egress: { http: server.url } });
    const connection = { type: "openai", url: `http://${outside}`, key, headers: {}, query: {} } as const;
    try {
      const { message } = await testProvider(proxied, connection, { signal });
      expect(message).toMatch(/^The egress proxy .*\. The operator can check HTTPS_PROXY and HTTP_PROXY\.$/);
      expect(message).not.toContain(new URL(server.url).host);
    } finally {
      await proxied.close();
    }
  });

  it.each<[ProviderType, string, string]>([
    ["comfyui", "/system_stats", "ComfyUI is reachable."],
    ["cog", "/health-check", "Cog is reachable."],
  ])("tests %s, which has no list", async (type, path, message) => {
    const routes = { [`GET ${path}`]: () => ({ status: "READY" }) };
    const server = await start({ ...ollama, type, routes }, undefined);
    expect(await test(type, server.url)).toMatchObject({ ok: true, message });
  });
});
