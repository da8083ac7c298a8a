import type { Manifest } from "@gantry/wire";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { FormReader } from "../predictions/index.ts";

/** As for a form of an HTTP request: nobody can send more this way than that way. */
const maxFields = 32;
const maxTextBytes = 1_048_576;

/**
 * JSON arguments as the form that a client of the HTTP routes would send, so that both are read by the same rules. Null
 * stands for a value that was left out; a list or an object belongs into a field of that type.
 */
export function formOfArguments({ input }: Manifest, given: Readonly<Record<string, unknown>>): FormReader {
  return async () => {
    const values = Object.entries(given);
    if (values.length > maxFields) {
      const ctx = { max_fields: maxFields };
      throw fault("too_many_fields", `There are more than ${maxFields} arguments`, { ctx });
    }
    const issues: Issue[] = [];
    const entries: { name: string; value: string }[] = [];
    for (const [name, value] of values) {
      const field = Object.hasOwn(input.properties, name) ? input.properties[name] : undefined;
      const types = [field?.type ?? "string"].flat();
      const loc = ["body", name];
      if (value === null) {
        if (types.includes("null")) entries.push({ name, value: "null" });
        continue;
      }
      if (typeof value === "object" && field && !types.includes("object") && !types.includes("array")) {
        issues.push({ type: "string_type", loc, msg: "Input should be a single value, not a list or an object" });
        continue;
      }
      const text = textOf(value);
      if (text === undefined) {
        issues.push({ type: "json_invalid", loc, msg: "Input is nested too deeply" });
      } else if (field?.format !== "binary" && Buffer.byteLength(text) > maxTextBytes) {
        const ctx = { max_length: maxTextBytes };
        issues.push({ type: "string_too_long", loc, msg: `The field is longer than ${maxTextBytes} bytes`, ctx });
      } else {
        entries.push({ name, value: text });
      }
    }
    throwIfAny(issues);
    return { kind: "form", entries };
  };
}

function textOf(value: unknown): string | undefined {
  // A form is UTF-8 and cannot hold half a character; JSON can.
  if (typeof value === "string") return value.toWellFormed();
  try {
    return JSON.stringify(value);
  } catch {
    // Writing walks down to the depth of the value, reading did not.
    return undefined;
  }
}
