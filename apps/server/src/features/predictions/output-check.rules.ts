import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { StoredOutput } from "./prediction.ts";

export function makesFiles({ properties }: ObjectSchema): boolean {
  return Object.values(properties).some((field) => field.format === "binary");
}

/**
 * The output, if it is what the manifest promises: every required field is there, and what is there has its type. Its
 * files are stored and stand in it as addresses. Throws what is the upstream's fault, and free. A null where none is
 * promised stands for a field that was left out; what the manifest does not name is left out.
 */
export function checkedOutput(schema: ObjectSchema, given: StoredOutput): StoredOutput {
  const fields = Object.entries(schema.properties);
  const isLeftOut = (name: string) => {
    const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    return field === undefined || (given[name] === null && !hasType(field, null));
  };
  const leftOut = Object.keys(given).filter(isLeftOut);
  const output = leftOut.length === 0 ? given : { ...given };
  for (const name of leftOut) delete output[name];
  if (makesFiles(schema) && Object.keys(output).length === 0) throw noMedia();
  for (const [name, field] of fields) {
    const value = output[name];
    if (value === undefined) {
      if (schema.required?.includes(name)) throw missing(name);
    } else if (field.format !== "binary" && !isPromised(field, value)) {
      throw fault(
        "downstream_service_error",
        `The model answered its output field ${name} with what it does not promise`,
      );
    }
  }
  return output;
}

function noMedia(): Fault {
  return fault("no_media_generated", "The run ended without producing any output");
}

function missing(name: string): Fault {
  return fault("downstream_service_error", `The model answered without its output field ${name}`);
}

function isPromised(field: FieldSchema, value: unknown): boolean {
  if (!hasType(field, value)) return false;
  // Where null may stand it may stand beside any list of values, as in an input.
  if (value !== null && field.enum && !field.enum.includes(value)) return false;
  return !Array.isArray(value) || !field.items || value.every((element) => hasType(field.items ?? {}, element));
}

function hasType({ type }: Pick<FieldSchema, "type">, value: unknown): boolean {
  if (type === undefined) return true;
  const types = typeof type === "string" ? [type] : type;
  const own = nameOf(value);
  return types.includes(own) || (own === "number" && types.includes("integer") && Number.isInteger(value));
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
