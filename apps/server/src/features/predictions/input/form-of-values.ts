import type { FieldSchema, Manifest } from "@gantry/wire";
import { fault, type Issue, throwIfAny } from "../../../kernel/errors.ts";
import type { FormEntry, FormFile, FormReader } from "./form.ts";
import { ownNameOf } from "./plan-input.rules.ts";

/** As for a form of an HTTP request: nobody can send more this way than that way. */
const mostFields = 32;
const mostTextBytes = 1_048_576;

/** A file that a value stands for; undefined where it stands for none, and then goes on as a text. */
export type OpenValue = (name: string, value: unknown) => Promise<FormFile | undefined>;

/**
 * JSON values as the form that a client of the HTTP routes would send, so that all are read by the same rules. Null
 * stands for a value that was left out; a list or an object belongs into a field of that type. `openFile` is asked for
 * the values of file fields.
 */
export function formOfValues(
  manifest: Manifest,
  given: Readonly<Record<string, unknown>>,
  openFile: OpenValue = async () => undefined,
): FormReader {
  return async <T>({ onFile, signal }: { onFile(file: FormFile): Promise<T>; signal: AbortSignal }) => {
    const values = Object.entries(given);
    if (values.length > mostFields) {
      const ctx = { max_fields: mostFields };
      throw fault("too_many_fields", `There are more than ${mostFields} fields`, { ctx });
    }
    const issues: Issue[] = [];
    const entries: FormEntry<T>[] = [];
    for (const [name, value] of values) {
      signal.throwIfAborted();
      const field = fieldOf(manifest, name);
      const file = field?.format === "binary" ? await openFile(name, value) : undefined;
      if (file) {
        try {
          entries.push({ name, file: await onFile(file), filename: file.filename });
        } finally {
          if ("destroy" in file.body) file.body.destroy();
        }
        continue;
      }
      const text = textOf(value, field);
      if (typeof text === "string") entries.push({ name, value: text });
      else if (text) issues.push({ ...text, loc: ["body", name] });
    }
    throwIfAny(issues);
    return { kind: "form", entries };
  };
}

/** A file field has a second name. */
function fieldOf({ input: { properties } }: Manifest, name: string): FieldSchema | undefined {
  const known = [name, ownNameOf(name)].find((each) => Object.hasOwn(properties, each));
  return known === undefined ? undefined : properties[known];
}

/** Undefined for a value that is left out, which null stands for where it is none of the field's values. */
function textOf(value: unknown, field: FieldSchema | undefined): string | Omit<Issue, "loc"> | undefined {
  const types = [field?.type ?? "string"].flat();
  if (value === undefined) return undefined;
  if (value === null) return types.includes("null") ? "null" : undefined;
  if (typeof value === "object" && field && !types.includes("object") && !types.includes("array")) {
    return { type: "string_type", msg: "Input should be a single value, not a list or an object" };
  }
  // A form is UTF-8 and cannot hold half a character; JSON writes it as an escape.
  const text = typeof value === "string" ? value.toWellFormed() : jsonOf(value);
  if (text === undefined) return { type: "json_invalid", msg: "Input is nested too deeply" };
  if (field?.format === "binary" || Buffer.byteLength(text) <= mostTextBytes) return text;
  const ctx = { max_length: mostTextBytes };
  return { type: "string_too_long", msg: `The field is longer than ${mostTextBytes} bytes`, ctx };
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // Writing walks down to the depth of the value, reading did not.
    return undefined;
  }
}
