import type { ProviderType, UpstreamModel } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { providerScripts } from "../test-upstreams/providers/all-providers.ts";
import { bedrockControl } from "../test-upstreams/providers/clouds.ts";
import { vllm } from "../test-upstreams/providers/gpu-servers.ts";
import {
  type ProviderScript,
  type ProviderServer,
  startProvider,
} from "../test-upstreams/providers/provider-server.ts";
import { llamaCpp, lmStudio, ollama } from "../test-upstreams/providers/self-hosted.ts";
import { openAi } from "../test-upstreams/providers/vendors.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { discoverModels } from "./providers.ts";
import { stated } from "./stated.fixture.ts";

const key = "sk-real-4711";
const signal = new AbortController().signal;

let net: Net;
const servers: ProviderServer[] = [];
beforeEach(() => {
  net = createNet({ allowPrivateNetwork: true });
});
afterEach(async () => {
  await net.close();
  for (const server of servers.splice(0)) await server.close();
});

async function start(script: ProviderScript): Promise<ProviderServer> {
  const server = await startProvider(script, key);
  servers.push(server);
  return server;
}

function discover(type: ProviderType, url: string, by = net): Promise<UpstreamModel[]> {
  return discoverModels(by, { type, url, key, headers: {}, query: {} }, { signal });
}

async function modelsOf(script: ProviderScript): Promise<UpstreamModel[]> {
  const server = await start(script);
  return discover(script.type, server.url + script.address);
}

describe("discoverModels", () => {
  it("names the model behind an Azure deployment", async () => {
    const script = providerScripts.find(({ type }) => type === "azure") as ProviderScript;
    expect((await modelsOf(script)).map(({ description }) => description)).toEqual([
      "Deployment of gpt-4o",
      "",
      "Deployment of text-embedding-3-large",
      "Deployment of dall-e-3",
    ]);
  });

  it("lists the other address of Bedrock by AWS's own API", async () => {
    const server = await start(bedrockControl);
    const rerouted: Net = {
      ...net,
      request: (call) => {
        const url = new URL(call.url);
        if (url.origin !== "https://bedrock.us-east-1.amazonaws.com") throw new Error(`unexpected ${url.origin}`);
        return net.request({ ...call, url: server.url + url.pathname + url.search });
      },
    };
    const url = "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1";
    expect(stated(await discover("bedrock", url, rerouted))).toEqual({
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0": { kind: "text", title: "Claude Sonnet 4.5", input: "text,image" },
      "openai.gpt-oss-120b-1:0": { kind: "text", title: "gpt-oss-120b" },
    });
  });

  it("says how to go on if Azure no longer lists deployments", async () => {
    const script = providerScripts.find(({ type }) => type === "azure-deployments") as ProviderScript;
    const server = await start(script);
    server.odd.call.push({ kind: "reply", reply: jsonReply({ error: { code: "404" } }, 404) });
    await expect(discover(script.type, server.url)).rejects.toThrow(
      "Azure OpenAI (deployments) does not list models. Add a model with the name of the deployment",
    );
  });

  it("asks a newer Ollama only for its list", async () => {
    const server = await start({
      ...ollama,
      routes: {
        "GET /api/tags": () => ({
          models: [
            {
              name: "qwen3:8b",
              model: "qwen3:8b",
              details: { family: "qwen3", parameter_size: "8.2B", context_length: 40_960 },
              capabilities: ["completion", "tools", "thinking"],
            },
          ],
        }),
      },
    });
    expect(stated(await discover("ollama", server.url))).toEqual({
      "qwen3:8b": { kind: "text", context_window: 40_960, model_size_in_billions: 8.2, tools: true },
    });
    expect(server.calls()).toEqual(["GET /api/tags", "GET /api/ps"]);
  });

  it("asks Ollama for a few models at a time, and lists those without details", async () => {
    let atOnce = 0;
    let most = 0;
    const names = Array.from({ length: 30 }, (_, n) => `model-${n}:latest`);
    const server = await start({
      ...ollama,
      routes: {
        "GET /api/tags": () => ({ models: names.map((name) => ({ name, model: name })) }),
        "POST /api/show": () => {
          most = Math.max(most, ++atOnce);
          const body = (async function* () {
            await new Promise((resolve) => setTimeout(resolve, 5));
            atOnce--;
            yield JSON.stringify({ error: "internal error" });
          })();
          return { status: 500, headers: { "content-type": "application/json" }, body };
        },
      },
    });
    expect((await discover("ollama", server.url)).map(({ id }) => id)).toEqual(names);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });

  it("takes Ollama's list without models", async () => {
    const server = await start({ ...ollama, routes: { "GET /api/tags": () => ({ models: null }) } });
    expect(await discover("ollama", server.url)).toEqual([]);
  });

  it("falls back to the compatible list of an older LM Studio", async () => {
    const { "GET /api/v0/models": _, ...routes } = lmStudio.routes;
    expect(stated(await modelsOf({ ...lmStudio, routes }))).toEqual({
      "qwen2-vl-7b-instruct": { kind: "text" },
      "qwen/qwen3-4b-2507": { kind: "text" },
      "text-embedding-nomic-embed-text-v1.5": { kind: "embedding" },
    });
  });

  it("reads the models of a llama.cpp router", async () => {
    const entry = (id: string, more: object) => ({ id, object: "model", owned_by: "llamacpp", created: 1, ...more });
    const data = [
      entry("ggml-org/gemma-3-4b-it-GGUF:Q4_K_M", {
        status: { value: "loaded" },
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
        meta: { n_ctx: 4096, n_ctx_train: 131_072 },
      }),
      entry("ggml-org/embeddinggemma-300M-GGUF", { status: { value: "unloaded" } }),
    ];
    const routes = {
      "GET /v1/models": () => ({ object: "list", data }),
      "GET /props": () => ({ role: "router", default_generation_settings: { params: {}, n_ctx: 0 } }),
    };
    expect(stated(await modelsOf({ ...llamaCpp, routes }))).toEqual({
      "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M": {
        kind: "text",
        title: "gemma-3-4b-it-GGUF:Q4_K_M",
        context_window: 4096,
        input: "text,image",
      },
      "ggml-org/embeddinggemma-300M-GGUF": { kind: "embedding", title: "embeddinggemma-300M-GGUF" },
    });
  });

  it("does not believe fields of the wrong type", async () => {
    const odd = { id: "m", root: 7, parent: {}, owned_by: [], max_model_len: "32768" };
    const data = [odd, { ...odd, id: "n", max_model_len: -1 }, { ...odd, id: "o", max_model_len: 1e300 }];
    const models = await modelsOf({ ...vllm, routes: { "GET /v1/models": () => ({ data }) } });
    expect(stated(models)).toEqual({ m: { kind: "text" }, n: { kind: "text" }, o: { kind: "text" } });
  });

  it("cleans texts that people will see", async () => {
    const script = providerScripts.find(({ type }) => type === "openrouter") as ProviderScript;
    const entry = { id: "m", name: `  a\u202eb\n<b>${"x".repeat(500)}`, description: 7 };
    const models = await modelsOf({ ...script, routes: { "GET /api/v1/models": () => ({ data: [entry] }) } });
    expect(models[0]?.title).toMatch(/^a b <b>x+…$/);
    expect(models[0]?.title).toHaveLength(200);
    expect(models[0]?.description).toBe("");
  });

  it("lists models without details that take too long", async () => {
    const script = providerScripts.find(({ type }) => type === "openai-compatible") as ProviderScript;
    const body = (async function* () {
      yield await new Promise<string>(() => {});
    })();
    const hang = () => ({ status: 200, headers: {}, body });
    const server = await start({ ...script, routes: { ...script.routes, "GET /model/info": hang } });
    const connection = { type: script.type, url: server.url, key, headers: {}, query: {} };
    const models = await discoverModels(net, connection, { signal, timeoutMs: 2000 });
    expect(models.map(({ id }) => id)).toContain("claude");
  });

  it("lists in time although a server is slow with the details of each model", async () => {
    const slow = () => {
      const body = (async function* () {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield JSON.stringify({ capabilities: ["completion", "tools"] });
      })();
      return { status: 200, headers: { "content-type": "application/json" }, body };
    };
    const names = Array.from({ length: 120 }, (_, n) => `model-${n}:latest`);
    const routes = {
      "GET /api/tags": () => ({ models: names.map((name) => ({ name, model: name })) }),
      "POST /api/show": slow,
    };
    const server = await start({ ...ollama, routes });
    const connection = { type: "ollama", url: server.url, key, headers: {}, query: {} } as const;
    const models = await discoverModels(net, connection, { signal, timeoutMs: 1500 });
    expect(models.map(({ id }) => id)).toEqual(names);
    expect(models[0]?.tools).toBe(true);
    expect(models.at(-1)?.tools).toBeNull();
  });

  it("bounds the bytes of all pages together", async () => {
    const script = providerScripts.find(({ type }) => type === "anthropic") as ProviderScript;
    const page = JSON.stringify({ data: [], has_more: true, last_id: "again" }) + " ".repeat(7 * 1024 * 1024);
    const reply = { status: 200, headers: { "content-type": "application/json" }, body: page };
    const server = await start({ ...script, routes: { "GET /v1/models": () => reply } });
    await expect(discover("anthropic", server.url)).rejects.toThrow("Anthropic lists more models than Gantry reads.");
    expect(server.seen).toHaveLength(5);
  });

  it("refuses a list of too many models, or of too many pages", async () => {
    const data = Array.from({ length: 5001 }, (_, n) => ({ id: `m-${n}`, object: "model" }));
    await expect(modelsOf({ ...openAi, routes: { "GET /v1/models": () => ({ data }) } })).rejects.toThrow(
      "OpenAI lists more models than Gantry reads.",
    );
    const script = providerScripts.find(({ type }) => type === "anthropic") as ProviderScript;
    const server = await start({
      ...script,
      routes: { "GET /v1/models": () => ({ data: [], has_more: true, last_id: "again" }) },
    });
    await expect(discover("anthropic", server.url)).rejects.toThrow("Anthropic lists more models than Gantry reads.");
    expect(server.seen).toHaveLength(20);
  });
});
