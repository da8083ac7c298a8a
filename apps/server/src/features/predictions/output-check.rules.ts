import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * Whether an output is what the manifest promises: every required field is there, and what is there has its type. Its
 * files are stored and stand in it as addresses. An answer that is none of this is the upstream's fault, and free.
 */
export function outputFault(schema: ObjectSchema, output: Readonly<Record<string, unknown>>): Fault | undefined {
  for (const [name, field] of Object.entries(schema.properties)) {
    const value = output[name];
    if (value === undefined) {
      if (schema.required?.includes(name)) return missingOutput(name, field, output);
    } else if (field.format !== "binary" && !hasType(field, value)) {
      const said = `The model answered its output field ${name} with ${nameOf(value)}, which is none of its types`;
      return fault("downstream_service_error", said);
    }
  }
  return undefined;
}

function missingOutput(name: string, field: FieldSchema, output: Readonly<Record<string, unknown>>): Fault {
  if (field.format === "binary" && Object.keys(output).length === 0)
    return fault("no_media_generated", "The run ended without producing any output");
  return fault("downstream_service_error", `The model answered without its output field ${name}`);
}

function hasType({ type }: FieldSchema, value: unknown): boolean {
  if (type === undefined) return true;
  const types = typeof type === "string" ? [type] : type;
  const own = nameOf(value);
  return types.includes(own) || (own === "number" && types.includes("integer") && Number.isInteger(value));
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
