import { type FieldSchema, fileFieldOf, type Manifest } from "@gantry/wire";
import { fault, type Issue, throwIfAny } from "../../../kernel/errors.ts";
import type { FormEntry, FormFile, FormReader } from "./form.ts";
import { ownNameOf } from "./plan-input.rules.ts";

/** The limits of a form in an HTTP request. */
const mostFields = 32;
const mostTextBytes = 1_048_576;

/** The file that a value refers to. Undefined if the value is a text. */
export type OpenValue = (name: string, value: unknown) => Promise<FormFile | undefined>;

/**
 * Presents JSON values as the form that a client of the HTTP routes would send, so that the same rules apply. Null means
 * omitted. `openFile` is called for the values of file fields.
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
      throw fault("too_many_fields", `The input has more than ${mostFields} fields`, { ctx });
    }
    const issues: Issue[] = [];
    const entries: FormEntry<T>[] = [];
    for (const [name, value] of values) {
      signal.throwIfAborted();
      const field = fieldOf(manifest, name);
      const files = fileFieldOf(field);
      const isList = files?.list !== undefined && Array.isArray(value);
      // One entry more than allowed is enough to report the list as too long.
      const given: unknown[] = isList ? value.slice(0, (files.list?.most ?? 0) + 1) : [value];
      for (const [index, each] of given.entries()) {
        const file = files ? await openFile(name, each) : undefined;
        if (file) {
          try {
            entries.push({ name, file: await onFile(file), filename: file.filename });
          } finally {
            if ("destroy" in file.body) file.body.destroy();
          }
          continue;
        }
        const text = textOf(each, isList ? files.file : field);
        if (typeof text === "string") entries.push({ name, value: text });
        else if (text) issues.push({ ...text, loc: ["body", name, ...(isList ? [index] : [])] });
      }
      if (isList && given.length === 0) entries.push({ name, value: "[]" });
    }
    throwIfAny(issues);
    return { kind: "form", entries };
  };
}

function fieldOf({ input: { properties } }: Manifest, name: string): FieldSchema | undefined {
  const known = [name, ownNameOf(name)].find((each) => Object.hasOwn(properties, each));
  return known === undefined ? undefined : properties[known];
}

/** Undefined for an omitted value. Null counts as omitted unless the field is nullable. */
function textOf(value: unknown, field: FieldSchema | undefined): string | Omit<Issue, "loc"> | undefined {
  const types = [field?.type ?? "string"].flat();
  if (value === undefined) return undefined;
  if (value === null) return types.includes("null") ? "null" : undefined;
  if (typeof value === "object" && field && !types.includes("object") && !types.includes("array")) {
    return { type: "string_type", msg: "Input should be a single value, not a list or an object" };
  }
  // Forms are UTF-8 and cannot contain lone surrogates. JSON escapes them.
  const text = typeof value === "string" ? value.toWellFormed() : jsonOf(value);
  if (text === undefined) return { type: "json_invalid", msg: "Input is nested too deeply" };
  if (fileFieldOf(field) || Buffer.byteLength(text) <= mostTextBytes) return text;
  const ctx = { max_length: mostTextBytes };
  return { type: "string_too_long", msg: `The field is longer than ${mostTextBytes} bytes`, ctx };
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // JSON.stringify recurses, JSON.parse does not.
    return undefined;
  }
}
