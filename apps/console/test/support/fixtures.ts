import { expect } from "vitest";
import type { GantryNode } from "../../../server/test/support/gantry.ts";

const text = { type: "string" };

export const textModel = (url: string, changes: object = {}) => ({
  title: "A language model",
  kind: "text",
  visibility: "public",
  capacity: 10,
  context_window: 8000,
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
  input: { type: "object", properties: { prompt: { ...text, title: "Prompt" } }, required: ["prompt"] },
  output: { type: "object", properties: { output: { ...text, isStream: true } }, required: ["output"] },
  backend: { type: "openai-chat", url, model: "any" },
  ...changes,
});

export async function putModel(gantry: GantryNode, name: string, manifest: object): Promise<void> {
  const put = await gantry.call("PUT", `/api/v1/admin/${name}`, { json: manifest });
  expect([200, 201], put.text).toContain(put.status);
}

/** Creates and publishes an agent, and returns its id. */
export async function putAgent(gantry: GantryNode, fields: object, key = gantry.adminKey): Promise<string> {
  const created = await gantry.call("POST", "/v1/agents", { key, json: { goal: "Do it.", tools: [], ...fields } });
  expect(created.status, created.text).toBe(201);
  const published = await gantry.call("POST", `/v1/agents/${created.body.id}/publish`, { key, json: {} });
  expect(published.status, published.text).toBe(200);
  return created.body.id;
}
