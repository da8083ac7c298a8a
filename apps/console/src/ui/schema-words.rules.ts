import { count } from "./format.ts";
import { isRecord } from "./json.rules.ts";

/** A JSON Schema as somebody wrote it: it may be of any form, so nothing in it is taken for granted. */
export type Schema = Readonly<Record<string, unknown>>;

const schemaIn = (value: unknown): Schema => (isRecord(value) ? value : {});

export function propertiesOf({
  properties,
  required,
}: Schema): { name: string; schema: Schema; isRequired: boolean }[] {
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const all = Object.entries(schemaIn(properties)).map(([name, schema]) => ({
    name,
    schema: schemaIn(schema),
    isRequired: needed.includes(name),
  }));
  return all.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Null is none: it makes a field one that may be left empty. */
export const typesOf = ({ type }: Schema): string[] =>
  [type].flat().filter((name): name is string => typeof name === "string" && name !== "null");

export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export interface FieldRow {
  name: string;
  /** What it holds, as "whole number from 1 to 10". */
  kind: string;
  isRequired: boolean;
  initial: string | undefined;
  description: string | undefined;
}

/** The fields of an object, those first that it must have. */
export function fieldRows(schema: Schema): FieldRow[] {
  return propertiesOf(schema).map(({ name, isRequired, schema: field }) => ({
    name,
    kind: kindInWords(field),
    isRequired,
    initial: field.default === undefined || field.default === null ? undefined : valueInWords(field.default),
    description: textIn(field.description),
  }));
}

const valueInWords = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const names: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  array: "list",
  object: "object",
};

export function kindInWords(schema: Schema): string {
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.filter((value) => value !== null).map(valueInWords);
    return `one of ${choices.join(", ")}`;
  }
  if (schema.format === "binary") return fileInWords(schema);
  const types = typesOf(schema);
  const base = types.map((type) => names[type] ?? type).join(" or ") || "anything";
  const entries = isRecord(schema.items) ? kindInWords(schema.items) : "anything";
  return [
    base,
    ...(entries === "anything" ? [] : [`of ${entries}`]),
    ...boundsInWords(schema, types[0]),
    ...extras(schema),
  ].join(" ");
}

function fileInWords({ "x-media": media, "x-formats": endings, "x-max-duration": longest }: Schema): string {
  return [
    media === undefined || media === "file" ? "file" : `${media} file`,
    ...(Array.isArray(endings) ? [`(${endings.join(" ")})`] : []),
    ...(typeof longest === "number" ? [`of ${count(longest)} seconds at most`] : []),
  ].join(" ");
}

const bounds: Readonly<Record<string, readonly [least: string, most: string, unit: string]>> = {
  string: ["minLength", "maxLength", " characters"],
  integer: ["minimum", "maximum", ""],
  number: ["minimum", "maximum", ""],
  array: ["minItems", "maxItems", " entries"],
};

function boundsInWords(schema: Schema, type = ""): string[] {
  const [least = "", most = "", unit = ""] = bounds[type] ?? [];
  const [low, high] = [schema[least], schema[most]];
  if (typeof low === "number" && typeof high === "number") {
    return [unit === "" ? `from ${count(low)} to ${count(high)}` : `of ${count(low)} to ${count(high)}${unit}`];
  }
  if (typeof low === "number") return [unit === "" ? `from ${count(low)}` : `of at least ${count(low)}${unit}`];
  if (typeof high === "number") return [unit === "" ? `up to ${count(high)}` : `of at most ${count(high)}${unit}`];
  return [];
}

function extras({ format, isStream, properties }: Schema): string[] {
  return [
    ...(format === "uri" ? ["(web address)"] : []),
    ...(format === "date-time" ? ["(date and time)"] : []),
    ...(isRecord(properties) ? [`with ${Object.keys(properties).join(", ")}`] : []),
    ...(isStream ? ["(streamed)"] : []),
  ];
}
