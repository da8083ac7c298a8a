import { manifestSchema, type ProviderType, providerTypes, type UpstreamModel } from "@gantry/wire";
import { expect, it } from "vitest";
import { backendFor, type ProviderSettings } from "./providers.ts";

const chat = { id: "m", kind: "text" } as const;
const vectors = { id: "v", kind: "embedding" } as const;
const pictures = { id: "p", kind: "image" } as const;

type Model = Pick<UpstreamModel, "id" | "kind">;

const mantle = "https://bedrock-mantle.us-east-1.api.aws";
const runtime = "https://bedrock-runtime.us-east-1.amazonaws.com";

it.each<[ProviderSettings, Model, object]>([
  [{ type: "openai" }, chat, { type: "openai-chat", url: "https://api.openai.com/v1", model: "m" }],
  [{ type: "openai" }, vectors, { type: "openai-embeddings", url: "https://api.openai.com/v1", model: "v" }],
  [{ type: "openai" }, pictures, { type: "openai-images", url: "https://api.openai.com/v1", model: "p" }],
  [{ type: "anthropic" }, chat, { type: "anthropic", url: "https://api.anthropic.com/v1", model: "m" }],
  [{ type: "gemini" }, chat, { type: "google", url: "https://generativelanguage.googleapis.com/v1beta", model: "m" }],
  [
    { type: "gemini" },
    vectors,
    { type: "openai-embeddings", url: "https://generativelanguage.googleapis.com/v1beta/openai", model: "v" },
  ],
  [{ type: "ollama" }, chat, { type: "openai-chat", url: "http://127.0.0.1:11434/v1", model: "m" }],
  [{ type: "vllm", url: "gpu:8000" }, chat, { type: "openai-chat", url: "http://gpu:8000/v1", model: "m" }],
  [
    { type: "azure", url: "https://acme.openai.azure.com", secret: "AZURE" },
    chat,
    { type: "openai-chat", url: "https://acme.openai.azure.com/openai/v1", model: "m", secret: "AZURE" },
  ],
  [
    { type: "azure-deployments", url: "https://acme.openai.azure.com/", secret: "AZURE" },
    { id: "a b", kind: "text" },
    {
      type: "openai-chat",
      url: "https://acme.openai.azure.com/openai/deployments/a%20b",
      model: "a b",
      headers: { "api-key": "{{secret:AZURE}}" },
      query: { "api-version": "2024-10-21" },
    },
  ],
  [
    { type: "azure-deployments", url: "https://a.example", query: { "api-version": "2025-01-01-preview" } },
    vectors,
    {
      type: "openai-embeddings",
      url: "https://a.example/openai/deployments/v",
      model: "v",
      query: { "api-version": "2025-01-01-preview" },
    },
  ],
  [
    { type: "bedrock", url: `${mantle}/v1` },
    { id: "openai.gpt-oss-120b", kind: "text" },
    { type: "openai-chat", url: `${mantle}/v1`, model: "openai.gpt-oss-120b" },
  ],
  [
    { type: "bedrock", url: mantle },
    { id: "openai.gpt-5.5", kind: "text" },
    { type: "openai-chat", url: `${mantle}/openai/v1`, model: "openai.gpt-5.5" },
  ],
  [
    { type: "bedrock", url: `${mantle}/v1` },
    { id: "anthropic.claude-opus-4-8", kind: "text" },
    { type: "anthropic", url: `${mantle}/anthropic/v1`, model: "anthropic.claude-opus-4-8" },
  ],
  [
    { type: "bedrock", url: `${runtime}/openai/v1` },
    { id: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", kind: "text" },
    { type: "anthropic", url: `${runtime}/anthropic/v1`, model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" },
  ],
  [
    { type: "bedrock", url: `${runtime}/openai/v1` },
    { id: "openai.gpt-oss-120b-1:0", kind: "text" },
    { type: "openai-chat", url: `${runtime}/openai/v1`, model: "openai.gpt-oss-120b-1:0" },
  ],
  [
    { type: "openrouter", secret: "OR", headers: { "http-referer": "https://acme.example" }, query: { a: "b" } },
    chat,
    {
      type: "openai-chat",
      url: "https://openrouter.ai/api/v1",
      model: "m",
      secret: "OR",
      headers: { "http-referer": "https://acme.example" },
      query: { a: "b" },
    },
  ],
])("calls a model of %j: %j", (provider, model, backend) => {
  expect(backendFor(provider, model)).toEqual(backend);
});

it.each(Object.keys(providerTypes) as ProviderType[])("fits a manifest for %s", (type) => {
  const url = "url" in providerTypes[type] ? undefined : "https://llm.example";
  const backend = backendFor({ type, url, secret: "S", headers: { "x-a": "{{secret:S}}" }, query: { b: "c" } }, chat);
  const issues = manifestSchema.safeParse({ title: "t", kind: "text", backend }).error?.issues ?? [];
  expect(issues.filter(({ path }) => path[0] === "backend")).toEqual([]);
});

it("does not share objects with the provider", () => {
  const provider = { type: "openai", headers: { "x-a": "1" }, query: { b: "2" } } as const;
  const backend = backendFor(provider, chat);
  expect(backend.headers).not.toBe(provider.headers);
  expect(backend.query).not.toBe(provider.query);
});
