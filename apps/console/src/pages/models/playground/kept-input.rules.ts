import { isRecord, pretty } from "../../../ui/json.rules.ts";
import { type FileValue, type FormValue, type FormValues, initialValue } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";

export interface ReadInput {
  values: FormValues;
  /** Names in the input that the form does not have. */
  unknown: string[];
  /** Names of files that were sent with a request and are not stored. */
  missingFiles: string[];
}

/** Fills the form with an input: of an earlier prediction, of the address, or written as JSON. */
export function readInput(fields: readonly FormField[], input: Readonly<Record<string, unknown>>): ReadInput {
  const missingFiles: string[] = [];
  const known = new Set(fields.flatMap(({ name, control }) => (control.kind === "files" ? control.slots : [name])));
  const values = Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.control.kind === "files"
        ? filesIn(field.control.slots, input, missingFiles)
        : valueIn(field, input[field.name]),
    ]),
  );
  return { values, unknown: Object.keys(input).filter((name) => !known.has(name)), missingFiles };
}

function filesIn(
  slots: readonly string[],
  input: Readonly<Record<string, unknown>>,
  missingFiles: string[],
): FileValue[] {
  return slots
    .flatMap((slot) => input[slot])
    .flatMap((value) => {
      if (typeof value === "string" && value !== "") return [value];
      if (!isRecord(value)) return [];
      if (typeof value.$stored === "string") return [value.$stored];
      if (isRecord(value.$inline)) missingFiles.push(String(value.$inline.name ?? "a file"));
      return [];
    });
}

function valueIn(field: FormField, value: unknown): FormValue {
  if (value === undefined || value === null) return initialValue(field);
  switch (field.control.kind) {
    case "switch":
      return value === true || value === "true";
    case "choice":
      return JSON.stringify(value);
    case "json":
      return typeof value === "string" && isUnfinished(value) ? value : pretty(value);
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

/** A list or an object that was being typed, rather than a text. */
function isUnfinished(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
