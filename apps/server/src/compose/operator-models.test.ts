import type { BackendConfig } from "@gantry/wire";
import { expect, test } from "vitest";
import { operatorKeyOf } from "./operator-models.ts";

const config = {
  ANTHROPIC_API_KEY: "sk-ant-of-the-operator",
  GANTRY_LLM_KEY: "key-of-the-operator",
  GANTRY_LLM_URL: "http://llm.internal/v1",
  GANTRY_ADMIN_KEY: "not-for-any-model",
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
