import { z } from "zod";
import { type BackendType, backendNeeds, backendTypes } from "../backend-schema.ts";
import { manifestSchema } from "../manifest-schema.ts";
import type { Json } from "./operation.ts";

let described: Json | undefined;

/**
 * The body of `PUT /api/v1/{owner}/{model}` as a JSON Schema for editors, in the draft that they know best. Checks that
 * only code can do are left out, so it accepts more than the server.
 */
export function manifestDocument(address: string): Json {
  described ??= describe();
  return { ...described, $id: address };
}

function describe(): Json {
  const manifest = z.toJSONSchema(manifestSchema, { io: "input", target: "draft-7", unrepresentable: "any" });
  const { properties = {}, required = [], ...rest } = manifest;
  // The title defaults to the name. A Cog container defines its own fields, and the kind `embedding` has default ones.
  const mayBeMissing = ["title", "input", "output"];
  return {
    ...rest,
    title: "A Gantry model manifest",
    description: "The input, output, price and backend of a model.",
    properties: {
      ...properties,
      backend: withNeeds(properties.backend as Json),
      backends: { ...(properties.backends as Json), items: withNeeds((properties.backends as Json).items as Json) },
    },
    required: required.filter((name) => !mayBeMissing.includes(name)),
    oneOf: [needing(["backend"], ["backends"]), needing(["backends"], ["backend"])],
    allOf: [
      {
        if: {
          anyOf: [{ type: "object", properties: { backend: having("type", "cog") } }, having("kind", "embedding")],
        },
        else: needing(["input", "output"]),
      },
      {
        if: having("kind", "text"),
        else: {
          type: "object",
          properties: { context_window: false, max_output_tokens: false, model_size_in_billions: false },
        },
      },
    ],
  };
}

function having(name: string, value: string): Json {
  return { type: "object", properties: { [name]: { const: value } }, required: [name] };
}

/** Strict validators need the type and the required names in each part. */
function needing(required: readonly string[], refused: readonly string[] = []): Json {
  const marked = (names: readonly string[], isAllowed: boolean) => names.map((name) => [name, isAllowed]);
  const properties = Object.fromEntries([...marked(required, true), ...marked(refused, false)]);
  return { type: "object", required, properties };
}

function withNeeds(backend: Json): Json {
  return { ...backend, allOf: needsByType() };
}

function needsByType(): Json[] {
  return Object.keys(backendTypes).map((type) => {
    const needs = backendNeeds(type as BackendType);
    const named = (need: string) => Object.entries(needs).flatMap(([name, found]) => (found === need ? [name] : []));
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise
    return { if: having("type", type), then: needing(named("required"), named("refused")) };
  });
}
