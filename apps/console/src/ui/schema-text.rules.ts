import { count } from "./format.ts";
import { isRecord } from "./json.rules.ts";

/** A JSON Schema written by a user: any part of it may be missing or malformed. */
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

/** Without null, which only makes a field optional. */
export const typesOf = ({ type }: Schema): string[] =>
  [type].flat().filter((name): name is string => typeof name === "string" && name !== "null");

export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export interface FieldRow {
  name: string;
  /** For example "integer from 1 to 10". */
  kind: string;
  isRequired: boolean;
  initial: string | undefined;
  description: string | undefined;
}

/** Required fields first. */
export function fieldRows(schema: Schema): FieldRow[] {
  return propertiesOf(schema).map(({ name, isRequired, schema: field }) => ({
    name,
    kind: typeText(field),
    isRequired,
    initial: field.default === undefined || field.default === null ? undefined : valueText(field.default),
    description: textIn(field.description),
  }));
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const names: Readonly<Record<string, string>> = {
  string: "text",
  integer: "integer",
  number: "number",
  boolean: "yes or no",
  array: "list",
  object: "object",
};

export function typeText(schema: Schema): string {
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.filter((value) => value !== null).map(valueText);
    return `one of ${choices.join(", ")}`;
  }
  if (schema.format === "binary") return fileText(schema);
  const types = typesOf(schema);
  const base = types.map((type) => names[type] ?? type).join(" or ") || "anything";
  const entries = isRecord(schema.items) ? typeText(schema.items) : "anything";
  return [
    base,
    ...(entries === "anything" ? [] : [`of ${entries}`]),
    ...boundsText(schema, types[0]),
    ...extras(schema),
  ].join(" ");
}

function fileText({ "x-media": media, "x-formats": endings, "x-max-duration": longest }: Schema): string {
  return [
    media === undefined || media === "file" ? "file" : `${media} file`,
    ...(Array.isArray(endings) ? [`(${endings.join(" ")})`] : []),
    ...(typeof longest === "number" ? [`up to ${count(longest)} seconds`] : []),
  ].join(" ");
}

const bounds: Readonly<Record<string, readonly [least: string, most: string, unit: string]>> = {
  string: ["minLength", "maxLength", " characters"],
  integer: ["minimum", "maximum", ""],
  number: ["minimum", "maximum", ""],
  array: ["minItems", "maxItems", " entries"],
};

function boundsText(schema: Schema, type = ""): string[] {
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
    ...(format === "uri" ? ["(URL)"] : []),
    ...(format === "date-time" ? ["(date and time)"] : []),
    ...(isRecord(properties) ? [`with ${Object.keys(properties).join(", ")}`] : []),
    ...(isStream ? ["(streamed)"] : []),
  ];
}
