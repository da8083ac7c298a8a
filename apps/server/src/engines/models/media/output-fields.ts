import { type FieldSchema, fileFieldOf, type ObjectSchema } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import { type FileOutput, isFileOutput, type ModelCall, type OutputValue } from "../driver.ts";
import { broken } from "../upstream.ts";
import type { MediaBackend } from "./call.ts";
import { isDataUri } from "./data-uri.ts";
import { fileFrom, type Media } from "./output-files.ts";
import { Spool } from "./spool.ts";

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Spool);
}

export function mediaOf(field: FieldSchema | undefined): Media {
  return field?.["x-media"] ?? "file";
}

export function makesFiles(output: ObjectSchema): boolean {
  return Object.values(output.properties).some((field) => fileFieldOf(field) !== undefined);
}

/** The fields with one file each. */
export function fileFieldsOf(output: ObjectSchema): string[] {
  return Object.keys(output.properties).filter((name) => output.properties[name]?.format === "binary");
}

export function streamedFieldOf(output: ObjectSchema): string | undefined {
  return Object.keys(output.properties).find((name) => output.properties[name]?.isStream === true);
}

export function noMedia(): Fault {
  return fault("no_media_generated", "The model produced no output");
}

function fileListOf(output: ObjectSchema): string | undefined {
  return Object.keys(output.properties).find((name) => fileFieldOf(output.properties[name])?.list);
}

/**
 * Assigns parts of an answer to output fields. An object fills fields by name; any other value fills the only field. A list
 * fills the list of files. Without such a field it fills the fields with one file in order, and further files are dropped.
 */
function assignOutput(output: ObjectSchema, value: unknown): Record<string, unknown> {
  const names = Object.keys(output.properties);
  const [only] = names;
  if (isJsonObject(value)) {
    const named = names.filter((name) => Object.hasOwn(value, name));
    if (named.length > 0 || names.length !== 1 || only === undefined) {
      return Object.fromEntries(named.map((name) => [name, value[name]]));
    }
    return takes(output.properties[only], "object") ? { [only]: value } : {};
  }
  const list = fileListOf(output);
  if (list !== undefined && (Array.isArray(value) || names.length === 1)) return { [list]: value };
  const files = fileFieldsOf(output);
  const [firstFile] = files;
  if (firstFile !== undefined && Array.isArray(value)) {
    return Object.fromEntries(files.slice(0, value.length).map((name, index) => [name, value[index]]));
  }
  const target = names.length === 1 ? only : (firstFile ?? streamedFieldOf(output) ?? only);
  return target === undefined ? {} : { [target]: value };
}

/** Opens the files of an output. File fields without a value are left out. */
export async function fillOutput(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  value: unknown,
): Promise<Record<string, OutputValue>> {
  const filled: Record<string, OutputValue> = {};
  try {
    for (const [name, part] of Object.entries(assignOutput(backend.output, value))) {
      const field = backend.output.properties[name];
      if (typeof part === "string" && field?.format !== "binary" && !isDataUri(part)) {
        filled[name] = part;
        continue;
      }
      const opened = await outputValue(backend, call, field, part);
      if (opened !== undefined) filled[name] = opened;
    }
  } catch (error) {
    dropFiles(filled);
    throw error;
  }
  return filled;
}

/** Frees the files of an output that is not used. */
export function dropFiles(output: Record<string, OutputValue>): void {
  for (const value of Object.values(output).flat()) {
    if (!isFileOutput(value) || value.body instanceof Uint8Array) continue;
    value.body.on("error", () => {});
    value.body.destroy();
  }
}

async function outputValue(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  field: FieldSchema | undefined,
  value: unknown,
): Promise<OutputValue | undefined> {
  const files = fileFieldOf(field);
  if (files?.list) return value === null || value === undefined ? undefined : listedFiles(backend, call, files, value);
  if (files) {
    const file = Array.isArray(value) ? value[0] : value;
    return file === null || file === undefined ? undefined : fileFrom(backend, call, file, mediaOf(field));
  }
  // A file in a text field stays a file: as text it would bloat every response.
  if (value instanceof Spool || (typeof value === "string" && isDataUri(value))) {
    return fileFrom(backend, call, value, "file");
  }
  if (Array.isArray(value) && !takes(field, "array") && value.every((part) => typeof part === "string")) {
    return value.join("");
  }
  refuseFilesWithin(value, deepest);
  return value as OutputValue;
}

/** A longer list than the manifest allows is an error: the caller has reserved the price of that many files. */
async function listedFiles(
  backend: MediaBackend,
  call: Pick<ModelCall, "signal">,
  { file, list }: NonNullable<ReturnType<typeof fileFieldOf>>,
  value: unknown,
): Promise<FileOutput[]> {
  const given: unknown[] = Array.isArray(value) ? value : [value];
  const most = list?.most ?? 1;
  if (given.length > most) {
    const sentence = `The model returned ${given.length} files. Its manifest allows ${most}; raise maxItems of the output.`;
    throw broken(new Error(sentence), sentence);
  }
  const files: FileOutput[] = [];
  try {
    for (const each of given) files.push(await fileFrom(backend, call, each, mediaOf(file)));
  } catch (error) {
    dropFiles({ files });
    throw error;
  }
  return files;
}

/** Without a type, a field takes any value. */
function takes(field: FieldSchema | undefined, type: string): boolean {
  return field?.type === undefined || typesOf(field).includes(type);
}

export function typesOf(field: FieldSchema | undefined): readonly string[] {
  return typeof field?.type === "string" ? [field.type] : (field?.type ?? []);
}

/** Deeper values can be neither walked nor serialized. */
const deepest = 256;

function refuseFilesWithin(value: unknown, depthLeft: number): void {
  if (value instanceof Spool) throw broken(new Error("The upstream put a file inside another value"));
  if (typeof value !== "object" || value === null) return;
  if (depthLeft === 0) throw broken(new Error("The upstream's answer is nested too deeply"));
  for (const part of Object.values(value)) refuseFilesWithin(part, depthLeft - 1);
}
