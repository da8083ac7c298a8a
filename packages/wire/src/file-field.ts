import { isRecord, typesOf } from "./field-value.ts";
import type { FieldSchema } from "./manifest.ts";

/** Files of a list whose field has no `maxItems`. */
export const usualListedFiles = 16;
/** The largest `maxItems` of a list of files. A form has at most 32 files. */
export const mostListedFiles = { input: 32, output: 100 } as const;

interface FileField {
  /** The schema of the file, or of each file of a list. */
  file: FieldSchema;
  /** Undefined for a field with one file. */
  list: { least: number; most: number } | undefined;
}

/** Undefined for a field without files. */
export function fileFieldOf(field: FieldSchema | undefined): FileField | undefined {
  if (field?.format === "binary") return { file: field, list: undefined };
  if (field === undefined || !isFileList(field)) return undefined;
  const { items, minItems = 0, maxItems = usualListedFiles } = field;
  return { file: items as FieldSchema, list: { least: minItems, most: maxItems } };
}

/** The schema may be unchecked. */
export function isFileList(field: Readonly<Record<string, unknown>>): boolean {
  const { type, items } = field;
  return type !== undefined && typesOf(field).includes("array") && isRecord(items) && items.format === "binary";
}
