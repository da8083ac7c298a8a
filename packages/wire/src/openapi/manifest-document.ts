import { z } from "zod";
import { backendTypes } from "../backend-schema.ts";
import { manifestSchema } from "../manifest-schema.ts";
import type { Json } from "./operation.ts";

let described: Json | undefined;

/**
 * The body of `PUT /api/v1/{owner}/{model}` as a JSON Schema that editors complete by, in the draft that they know best.
 * What only code can check is left out: it accepts all that the server accepts, and some that it does not.
 */
export function manifestDocument(address: string): Json {
  described ??= describe();
  return { ...described, $id: address };
}

function describe(): Json {
  const manifest = z.toJSONSchema(manifestSchema, { io: "input", target: "draft-7", unrepresentable: "any" });
  const { properties = {}, required = [], ...rest } = manifest;
  // The title is then the name of the model; the other two a Cog container tells itself.
  const mayBeMissing = ["title", "input", "output"];
  return {
    ...rest,
    title: "A Gantry model manifest",
    description: "What a model takes, what it gives, what it costs, and who answers.",
    properties: { ...properties, backend: { ...(properties.backend as Json), allOf: backendNeeds() } },
    required: required.filter((name) => !mayBeMissing.includes(name)),
    allOf: [
      { if: { type: "object", properties: { backend: having("type", "cog") } }, else: needing(["input", "output"]) },
      {
        if: having("kind", "text"),
        else: { type: "object", properties: { context_window: false, model_size_in_billions: false } },
      },
    ],
  };
}

function having(name: string, value: string): Json {
  return { type: "object", properties: { [name]: { const: value } }, required: [name] };
}

/** Each part says again what it is about, and names what it requires: strict validators refuse a schema that does not. */
function needing(required: readonly string[], refused: readonly string[] = []): Json {
  const told = (names: readonly string[], isAllowed: boolean) => names.map((name) => [name, isAllowed]);
  const properties = Object.fromEntries([...told(required, true), ...told(refused, false)]);
  return { type: "object", required, properties };
}

function backendNeeds(): Json[] {
  return Object.entries(backendTypes).map(([type, needs]) => {
    const named = (need: string) => Object.entries(needs).flatMap(([name, found]) => (found === need ? [name] : []));
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nobody awaits it
    return { if: having("type", type), then: needing(named("required"), named("refused")) };
  });
}
