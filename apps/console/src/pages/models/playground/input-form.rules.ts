import type { FieldSchema, ObjectSchema } from "@gantry/sdk";
import { typesOf } from "../../../ui/schema-text.rules.ts";

export interface Option {
  /** JSON, because an option may have any type. */
  value: string;
  label: string;
}

export type Control =
  | { kind: "text"; isLong: boolean }
  | { kind: "number"; isWhole: boolean; min: number | undefined; max: number | undefined }
  | { kind: "switch" }
  | { kind: "choice"; options: readonly Option[] }
  /** Numbered fields of the schema, such as image, image1 and image2, are shown as one list of files. */
  | { kind: "files"; slots: readonly string[]; accept: string; max: number; isList: boolean }
  | { kind: "json" };

export interface FormField {
  name: string;
  label: string;
  hint: string | undefined;
  isRequired: boolean;
  /** An empty string then means null. */
  isNullable: boolean;
  initial: unknown;
  control: Control;
}

/** As the server, for a list without `maxItems`. */
const usualListedFiles = 16;

/** The schema of each file, for a field that is a list of files. */
const listedFile = ({ type, items }: FieldSchema): FieldSchema | undefined =>
  [type].flat().includes("array") && items?.format === "binary" ? (items as FieldSchema) : undefined;

/** The most files that a field of an output has; 0 for other fields. */
export function mostFilesOf(schema: FieldSchema): number {
  if (listedFile(schema)) return schema.maxItems ?? usualListedFiles;
  return isFile(schema) ? 1 : 0;
}

const isFile = (schema: FieldSchema | undefined): schema is FieldSchema => schema?.format === "binary";

/** Required fields first. */
export function fieldsOf(input: ObjectSchema): FormField[] {
  const required = new Set(input.required ?? []);
  const fields = Object.entries(input.properties)
    .filter(([name]) => slotBase(name, input) === undefined)
    .map(([name, schema]) => fieldOf(name, schema, { isRequired: required.has(name), input }));
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

/** `image` for `image3`, if the input has a field `image` of the same media type. */
function slotBase(name: string, { properties, required = [] }: ObjectSchema): string | undefined {
  const base = /^(.+?)_?\d+$/.exec(name)?.[1];
  const [slot, first] = [properties[name], base === undefined ? undefined : properties[base]];
  if (!isFile(slot) || !isFile(first) || required.includes(name)) return undefined;
  return slot["x-media"] === first["x-media"] ? base : undefined;
}

function fieldOf(
  name: string,
  schema: FieldSchema,
  { isRequired, input }: { isRequired: boolean; input: ObjectSchema },
): FormField {
  const slots = isFile(schema)
    ? [name, ...Object.keys(input.properties).filter((other) => slotBase(other, input) === name)]
    : [];
  return {
    name,
    label: schema.title ?? name,
    hint: schema.description,
    isRequired,
    isNullable: [schema.type].flat().includes("null"),
    initial: schema.default ?? undefined,
    control: filesControlOf(name, schema, slots) ?? controlOf(schema, isRequired),
  };
}

function filesControlOf(name: string, schema: FieldSchema, slots: readonly string[]): Control | undefined {
  const listed = listedFile(schema);
  if (listed) {
    return { kind: "files", slots: [name], accept: acceptedBy(listed), max: mostFilesOf(schema), isList: true };
  }
  if (slots.length === 0) return undefined;
  return { kind: "files", slots, accept: acceptedBy(schema), max: slots.length, isList: false };
}

function acceptedBy({ "x-formats": endings, "x-media": media }: FieldSchema): string {
  if (endings) return endings.join();
  return media === undefined || media === "file" ? "" : `${media}/*`;
}

/** Longer strings get a growing text area. */
const longestLine = 100;

function controlOf(schema: FieldSchema, isRequired: boolean): Control {
  const [type] = typesOf(schema);
  if (schema.enum) return { kind: "choice", options: schema.enum.filter((value) => value !== null).map(optionOf) };
  if (type === "number" || type === "integer") {
    return { kind: "number", isWhole: type === "integer", min: schema.minimum, max: schema.maximum };
  }
  // Without a default, false differs from not set.
  if (type === "boolean") {
    const isEither = isRequired || typeof schema.default === "boolean";
    return isEither ? { kind: "switch" } : { kind: "choice", options: [true, false].map(optionOf) };
  }
  if (type === "string") {
    return { kind: "text", isLong: schema.format === undefined && (schema.maxLength ?? Infinity) > longestLine };
  }
  return { kind: "json" };
}

function optionOf(value: unknown): Option {
  if (typeof value === "boolean") return { value: String(value), label: value ? "Yes" : "No" };
  const json = JSON.stringify(value);
  return { value: json, label: typeof value === "string" ? value : json };
}

const maxUnfolded = 5;
const shownIfFolded = 3;

/** Folds optional fields if there are many. */
export function folded(fields: readonly FormField[]): { shown: FormField[]; more: FormField[] } {
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const more = optional.length > maxUnfolded ? optional.slice(shownIfFolded) : [];
  return { shown: fields.filter((field) => !more.includes(field)), more };
}
