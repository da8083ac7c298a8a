import type { BackendConfig } from "@gantry/wire";
import { expect, test } from "vitest";
import { environmentProviders, operatorKeyOf, vendorKeyOf } from "./operator-models.ts";

const config = {
  ANTHROPIC_API_KEY: "sk-ant-of-the-operator",
  GANTRY_LLM_KEY: "key-of-the-operator",
  GANTRY_LLM_URL: "http://llm.internal/v1",
  GANTRY_ADMIN_KEY: "not-for-any-model",
  OPENAI_API_KEY: "sk-openai-of-the-operator",
  GEMINI_API_KEY: "gemini-of-the-operator",
};
const model = (backend: BackendConfig, owner = "anthropic") => ({ owner, backend });
const claude = { type: "anthropic", model: "m" };
const llm = { type: "openai-chat", url: config.GANTRY_LLM_URL, model: "m" };

test("the operator's keys go to the addresses that they are meant for, from the operator's models", () => {
  expect(operatorKeyOf(config, { owner: "anthropic" }, claude, "ANTHROPIC_API_KEY")).toBe(config.ANTHROPIC_API_KEY);
  expect(operatorKeyOf(config, { owner: "anthropic" }, llm, "GANTRY_LLM_KEY")).toBe(config.GANTRY_LLM_KEY);
});

test.each([
  ["another owner's model", model(claude, "admin"), "ANTHROPIC_API_KEY"],
  ["Anthropic's key to another address", model({ ...claude, url: "https://evil.example" }), "ANTHROPIC_API_KEY"],
  ["Anthropic's key in another protocol", model({ ...llm, url: "https://evil.example" }), "ANTHROPIC_API_KEY"],
  ["the server's key to another address", model({ ...llm, url: "https://evil.example/v1" }), "GANTRY_LLM_KEY"],
  ["the server's key to the vendor", model(claude), "GANTRY_LLM_KEY"],
  ["any other setting", model(claude), "GANTRY_ADMIN_KEY"],
  ["any other setting to the server", model(llm), "GANTRY_ADMIN_KEY"],
])("refuses %s", (_, of, name) => {
  expect(operatorKeyOf(config, of, of.backend, name)).toBeUndefined();
});

const openai = { type: "openai-chat", url: "https://api.openai.com/v1", model: "m" };

test("a vendor's key goes to the vendor, from models of gantry", () => {
  expect(operatorKeyOf(config, { owner: "gantry" }, openai, "OPENAI_API_KEY")).toBe(config.OPENAI_API_KEY);
  const imitation = "https://generativelanguage.googleapis.com/v1beta/openai";
  expect(vendorKeyOf(config, imitation, "GEMINI_API_KEY")).toBe(config.GEMINI_API_KEY);
});

test.each([
  ["http://api.openai.com/v1", "OPENAI_API_KEY"],
  ["https://api.openai.com.evil.example/v1", "OPENAI_API_KEY"],
  ["https://api.openai.com:8443/v1", "OPENAI_API_KEY"],
  ["https://api.openai.com@evil.example/v1", "OPENAI_API_KEY"],
  ["https://openrouter.ai/api/v1", "OPENAI_API_KEY"],
  ["https://api.openai.com/v1", "GEMINI_API_KEY"],
  ["https://api.openai.com/v1", "GANTRY_ADMIN_KEY"],
  ["https://api.openai.com/v1", "toString"],
  ["not an address", "OPENAI_API_KEY"],
  [undefined, "OPENAI_API_KEY"],
])("%s does not get %s", (url, name) => {
  expect(vendorKeyOf(config, url, name)).toBeUndefined();
});

test.each(["admin", "anthropic", "ann"])("a model of %s does not get a vendor's key", (owner) => {
  expect(operatorKeyOf(config, { owner }, openai, "OPENAI_API_KEY")).toBeUndefined();
});

test("each key in the environment is a provider, without its value", () => {
  const providers = environmentProviders(config);
  expect(providers.map(({ name, secret, source }) => [name, secret, source])).toEqual([
    ["openai", "OPENAI_API_KEY", "environment"],
    ["gemini", "GEMINI_API_KEY", "environment"],
  ]);
  expect(JSON.stringify(providers)).not.toContain("of-the-operator");
});
