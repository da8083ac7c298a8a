import { expect } from "vitest";
import type { GantryUnderTest } from "./gantry.ts";

export const text = { type: "string" };
export const streamedText = { ...text, isStream: true };

/** The schema of an object whose named fields are required; all of them by default. */
export const object = (properties: object, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
});

const common = { title: "A model", visibility: "public", capacity: 4, input: object({ prompt: text }) };

/** A prompt in, a text out, from a Cog server. */
export const cogModel = (url: string, change: object = {}) => ({
  ...common,
  kind: "other",
  output: object({ output: text }),
  backend: { type: "cog", url },
  ...change,
});

/** A prompt in, a streamed text out, from an OpenAI-compatible server. */
export const chatModel = (url: string, change: object = {}) => ({
  ...common,
  kind: "text",
  output: object({ output: streamedText }),
  backend: { type: "openai-chat", url, model: "test" },
  ...change,
});

/** A chat model for many runs of agents. */
export const agentModel = (url: string, change: object = {}) =>
  chatModel(url, {
    capacity: 50,
    context_window: 8000,
    pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
    ...change,
  });

/** Creates the models of an owner, by name. */
export async function createModels(
  { call }: Pick<GantryUnderTest, "call">,
  models: Record<string, object>,
  owner: { name: string; key?: string } = { name: "admin" },
): Promise<void> {
  const by = owner.key === undefined ? {} : { key: owner.key };
  for (const [name, json] of Object.entries(models)) {
    const created = await call("PUT", `/api/v1/${owner.name}/${name}`, { json, ...by });
    expect(created.status, created.text).toBe(201);
  }
}
