import type { FieldSchema, ObjectSchema } from "@gantry/sdk";
import { count } from "../../../ui/format.ts";
import { typesOf } from "../playground/input-form.rules.ts";

export interface FieldRow {
  name: string;
  title: string | undefined;
  /** What it holds, as "whole number from 1 to 10". */
  kind: string;
  isRequired: boolean;
  initial: string | undefined;
  description: string | undefined;
}

export function rowsOf({ properties, required = [] }: ObjectSchema): FieldRow[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    title: schema.title,
    kind: kindInWords(schema),
    isRequired: required.includes(name),
    initial: schema.default === undefined || schema.default === null ? undefined : valueInWords(schema.default),
    description: schema.description,
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

export function kindInWords(schema: FieldSchema): string {
  if (schema.enum) {
    return `one of ${schema.enum
      .filter((value) => value !== null)
      .map(valueInWords)
      .join(", ")}`;
  }
  if (schema.format === "binary") return fileInWords(schema);
  const type = typesOf(schema).find((name) => name !== "null");
  const base = type === undefined ? "anything" : (names[type] ?? type);
  const bounds = boundsInWords(schema, type);
  return [base, ...of(schema), ...(bounds ? [bounds] : []), ...extras(schema)].join(" ");
}

function of({ items }: FieldSchema): string[] {
  return items === undefined ? [] : [`of ${kindInWords(items)}`];
}

function fileInWords({
  "x-media": media = "file",
  "x-formats": endings,
  "x-max-duration": longest,
}: FieldSchema): string {
  return [
    media === "file" ? "file" : `${media} file`,
    ...(endings ? [`(${endings.join(" ")})`] : []),
    ...(longest === undefined ? [] : [`of ${count(longest)} seconds at most`]),
  ].join(" ");
}

const bounds: Readonly<Record<string, readonly [keyof FieldSchema, keyof FieldSchema, string]>> = {
  string: ["minLength", "maxLength", " characters"],
  integer: ["minimum", "maximum", ""],
  number: ["minimum", "maximum", ""],
  array: ["minItems", "maxItems", " entries"],
};

function boundsInWords(schema: FieldSchema, type = ""): string | undefined {
  const [least, most, unit] = bounds[type] ?? [];
  const low = least === undefined ? undefined : schema[least];
  const high = most === undefined ? undefined : schema[most];
  if (typeof low === "number" && typeof high === "number") {
    return unit === "" ? `from ${count(low)} to ${count(high)}` : `of ${count(low)} to ${count(high)}${unit}`;
  }
  if (typeof low === "number") return unit === "" ? `from ${count(low)}` : `of at least ${count(low)}${unit}`;
  if (typeof high === "number") return unit === "" ? `up to ${count(high)}` : `of at most ${count(high)}${unit}`;
  return undefined;
}

function extras({ format, isStream, properties }: FieldSchema): string[] {
  return [
    ...(format === "uri" ? ["(web address)"] : []),
    ...(format === "date-time" ? ["(date and time)"] : []),
    ...(properties ? [`with ${Object.keys(properties).join(", ")}`] : []),
    ...(isStream ? ["(streamed)"] : []),
  ];
}

const units = [
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A span of time in the largest unit that it is a whole number of. */
export function spanInWords(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? ["second", 1];
  const n = seconds / size;
  return `${count(n)} ${unit}${n === 1 ? "" : "s"}`;
}
