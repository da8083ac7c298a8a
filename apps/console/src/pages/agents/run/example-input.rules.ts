import { type InputKind, schemaFields } from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";

const examples: Partial<Record<InputKind, unknown>> = { number: 1, "yes-no": true, lines: ["…"], json: {} };

/** Required fields with placeholder values. */
export function exampleInput(schema: Schema): Record<string, unknown> {
  const needed = schemaFields(schema).filter(({ isRequired }) => isRequired);
  return Object.fromEntries(needed.map(({ name, kind, choices }) => [name, choices[0] ?? examples[kind] ?? "…"]));
}
