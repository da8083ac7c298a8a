import { type ProviderType, providerTypes, putProviderBody } from "@gantry/wire";
import { describe, expect, it } from "vitest";
import { apiAddressOf } from "./address.rules.ts";
import { normalizeUrl, readAddress } from "./providers.ts";

const cases: [ProviderType, string, string][] = [
  ["openai", "https://api.openai.com/v1", "https://api.openai.com/v1"],
  ["openai", "api.openai.com", "https://api.openai.com/v1"],
  ["openai", " https://api.openai.com/v1/chat/completions ", "https://api.openai.com/v1"],
  ["openai", "https://gateway.example/acme/openai", "https://gateway.example/acme/openai"],
  ["anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com"],
  ["anthropic", "https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic"],
  ["gemini", "https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"],
  [
    "gemini",
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent?key=AIza",
    "https://generativelanguage.googleapis.com/v1beta",
  ],
  [
    "gemini",
    "https://generativelanguage.googleapis.com/v1beta/openai/",
    "https://generativelanguage.googleapis.com/v1beta",
  ],
  ["openrouter", "openrouter.ai", "https://openrouter.ai/api/v1"],
  ["openrouter", "https://openrouter.ai/api", "https://openrouter.ai/api/v1"],
  ["groq", "https://api.groq.com/openai/v1/models", "https://api.groq.com/openai/v1"],
  ["azure", "https://acme.openai.azure.com", "https://acme.openai.azure.com/openai/v1"],
  ["azure", "https://acme.openai.azure.com/openai/", "https://acme.openai.azure.com/openai/v1"],
  ["azure", "https://acme.services.ai.azure.com/api/projects/first", "https://acme.services.ai.azure.com/openai/v1"],
  [
    "azure-deployments",
    "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview",
    "https://acme.openai.azure.com",
  ],
  ["azure-deployments", "https://acme.openai.azure.com/openai/v1/", "https://acme.openai.azure.com"],
  [
    "bedrock",
    "https://bedrock-runtime.us-east-1.amazonaws.com",
    "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
  ],
  ["bedrock", "https://bedrock-mantle.us-east-1.api.aws/v1/", "https://bedrock-mantle.us-east-1.api.aws/v1"],
  ["ollama", "localhost:11434", "http://localhost:11434"],
  ["ollama", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"],
  ["ollama", "http://127.0.0.1:11434/api/", "http://127.0.0.1:11434"],
  ["ollama", "http://127.0.0.1:11434/api/tags", "http://127.0.0.1:11434"],
  ["ollama", "https://box.example/ollama/v1/chat/completions", "https://box.example/ollama"],
  ["lmstudio", "192.168.1.7:1234/v1/models", "http://192.168.1.7:1234"],
  ["lmstudio", "http://127.0.0.1:1234/api/v0/models", "http://127.0.0.1:1234"],
  ["llamacpp", "http://[::1]:8080/", "http://[::1]:8080"],
  ["vllm", "gpu.local:8000/v1", "http://gpu.local:8000"],
  ["vllm", "gpu:8000", "http://gpu:8000"],
  ["sglang", "https://gpu.example:30000/v1/", "https://gpu.example:30000"],
  ["openai-compatible", "https://llm.example", "https://llm.example/v1"],
  ["openai-compatible", "https://llm.example//v1//", "https://llm.example/v1"],
  ["openai-compatible", "https://open.bigmodel.example/api/paas/v4", "https://open.bigmodel.example/api/paas/v4"],
  ["openai-compatible", '"https://llm.example/v1"', "https://llm.example/v1"],
  ["comfyui", "http://127.0.0.1:8188/prompt", "http://127.0.0.1:8188"],
  ["cog", "http://gpu.example:5000/predictions", "http://gpu.example:5000"],
];

describe("normalizeUrl", () => {
  it.each(cases)("reads the %s address %s as %s", (type, text, expected) => {
    const url = normalizeUrl(type, text);
    expect(url).toBe(expected);
    expect(normalizeUrl(type, url)).toBe(url);
    expect(putProviderBody.safeParse({ type, url }).success).toBe(true);
  });

  it.each(Object.entries(providerTypes))("keeps the addresses of %s", (type, preset) => {
    for (const url of [
      "url" in preset ? preset.url : undefined,
      "urlExample" in preset ? preset.urlExample : undefined,
    ]) {
      if (url !== undefined) expect(normalizeUrl(type as ProviderType, url)).toBe(new URL(url).href.replace(/\/$/, ""));
    }
  });

  it.each([
    "",
    "http://",
    "ftp://llm.example",
    "https://user:pass@llm.example",
    "not an address",
    "javascript:alert(1)",
  ])("leaves %j to the check of the address", (text) => {
    expect(normalizeUrl("openai-compatible", text)).toBe(text);
  });

  it("keeps the version of a pasted Azure address apart", () => {
    const text =
      "https://acme.openai.azure.com/openai/deployments/a/chat/completions?api-version=2025-01-01-preview&x=1";
    expect(readAddress("azure-deployments", text)?.query).toEqual({ "api-version": "2025-01-01-preview" });
    expect(readAddress("openai", "https://api.openai.com/v1?api-version=1")?.query).toEqual({});
  });

  it("reads a long address without delay", () => {
    const started = performance.now();
    for (const text of ["/".repeat(8000), "v1/".repeat(2500), '"'.repeat(8000), "/".repeat(1_000_000)]) {
      normalizeUrl("openai-compatible", `https://llm.example/${text}x`);
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

it.each<[ProviderType, string, string, string]>([
  ["ollama", "http://127.0.0.1:11434", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"],
  ["anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1", "https://api.anthropic.com"],
  ["openai-compatible", "https://llm.example/v1", "https://llm.example/v1", "https://llm.example"],
  [
    "azure",
    "https://acme.openai.azure.com/openai/v1",
    "https://acme.openai.azure.com/openai/v1",
    "https://acme.openai.azure.com",
  ],
  ["openrouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1", "https://openrouter.ai"],
])("calls %s at %s under %s, and its own routes under %s", (type, url, api, root) => {
  expect(apiAddressOf(type, url)).toEqual({ api, root });
});
