import { type InputKind, schemaFields } from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-words.rules.ts";

const examples: Partial<Record<InputKind, unknown>> = { number: 1, "yes-no": true, lines: ["…"], json: {} };

/** What an input may look like, for an example of a call: the required fields, with something in them. */
export function exampleInput(schema: Schema): Record<string, unknown> {
  const needed = schemaFields(schema).filter(({ isRequired }) => isRequired);
  return Object.fromEntries(needed.map(({ name, kind, choices }) => [name, choices[0] ?? examples[kind] ?? "…"]));
}
