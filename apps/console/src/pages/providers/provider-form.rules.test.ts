import type { ProviderRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { bodyOf, draftOf, freeName, isPrivateAddress, linesOf, newDraft, textsIn } from "./provider-form.rules.ts";

test("a new provider has a free name and the usual address of a server, but not that of a vendor", () => {
  expect(newDraft("ollama", [])).toMatchObject({ name: "ollama", url: "http://127.0.0.1:11434" });
  expect(newDraft("openai", ["openai", "openai-2"])).toMatchObject({ name: "openai-3", url: "" });
  expect(freeName("a", ["b"])).toBe("a");
});

test("an edited provider shows what is stored and sends it again", () => {
  const record: ProviderRecord = {
    name: "router",
    owner: "ann",
    source: "saved",
    models: 0,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    type: "openrouter",
    url: null,
    secret: "router",
    headers: { "x-title": "Gantry: test" },
    query: {},
  };
  const draft = draftOf(record);
  expect(draft).toEqual({
    name: "router",
    url: "",
    secret: "router",
    key: "",
    headers: "x-title: Gantry: test",
    query: "",
  });
  expect(bodyOf("openrouter", draft, draft.secret)).toEqual({
    type: "openrouter",
    secret: "router",
    headers: { "x-title": "Gantry: test" },
  });
});

test("empty fields are left out, so that defaults apply", () => {
  const draft = { ...newDraft("vllm", []), url: " http://gpu.example:8000 ", query: "api-version: 2" };
  expect(bodyOf("vllm", draft, undefined)).toEqual({
    type: "vllm",
    url: "http://gpu.example:8000",
    query: { "api-version": "2" },
  });
});

test.each([
  ["gpu:8000", "http://gpu:8000"],
  ["localhost:11434/v1", "http://localhost:11434/v1"],
  ["llm.example/v1", "https://llm.example/v1"],
  ["https://llm.example", "https://llm.example"],
  ["/v1", "/v1"],
])("the address %s is sent as %s", (typed, sent) => {
  expect(bodyOf("vllm", { ...newDraft("vllm", []), url: typed }, undefined).url).toBe(sent);
});

test("headers are lines of name and value", () => {
  const texts = { "x-a": "1: 2", authorization: "Bearer {{secret:key}}" };
  expect(textsIn(`\n${linesOf(texts)}\n  \n`)).toEqual({ texts });
  expect(textsIn("x-a: 1\nnonsense")).toEqual({ fault: 'Write "nonsense" as name: value' });
  expect(textsIn("x-a:")).toHaveProperty("fault");
});

test.each([
  ["http://127.0.0.1:11434", true],
  ["http://localhost:1234/v1", true],
  ["http://ollama:11434", true],
  ["http://192.168.1.7", true],
  ["http://172.20.0.1", true],
  ["http://[::1]:8000", true],
  ["http://gpu.internal", true],
  ["https://api.openai.com/v1", false],
  ["http://172.32.0.1", false],
  ["http://8.8.8.8", false],
  ["not a url", false],
  ["", false],
])("%s is a private address: %s", (url, isPrivate) => {
  expect(isPrivateAddress(url)).toBe(isPrivate);
});
