import { wrongArguments } from "../frame/failure.ts";

export interface TypedField {
  key: string;
  kind: "text" | "json" | "file" | "stdin";
  /** The text, the JSON, or the name of the file. */
  value: string;
}

export function fieldOf(word: string): TypedField {
  const [, key, isJson, value = ""] = /^([^=:]+)(:?)=(.*)$/s.exec(word) ?? [];
  if (key === undefined) throw wrongArguments(`${word} is not a field of the input. Use KEY=VALUE or KEY:=JSON.`);
  if (isJson === ":") return { key, kind: "json", value };
  if (value === "-") return { key, kind: "stdin", value };
  return value.startsWith("@") ? { key, kind: "file", value: value.slice(1) } : { key, kind: "text", value };
}

type Schema = Readonly<Record<string, unknown>>;

/** The input, with texts converted to the types of the agent's input schema. A repeated field is a list. */
export function inputOf(
  fields: readonly { key: string; value: string; isJson: boolean }[],
  schema: Schema,
): Record<string, unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const input: Record<string, unknown> = {};
  for (const [key, given] of byKey(fields)) {
    const property = Object.hasOwn(properties, key) && isSchema(properties[key]) ? properties[key] : {};
    const values = given.map(({ value, isJson }) => (isJson ? jsonOf(key, value) : converted(key, value, property)));
    const isList = given.length > 1 || (isOnly(property, "array") && !Array.isArray(values[0]));
    Object.defineProperty(input, key, {
      value: isList ? values.flat() : values[0],
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return input;
}

/** The server refuses such an input too, but cannot say how to write a field here. */
export function checkRequired(input: Record<string, unknown>, { required }: Schema): void {
  const missing = Array.isArray(required) ? required.filter((key) => !Object.hasOwn(input, String(key))) : [];
  if (missing.length === 0) return;
  const shown = missing.map((key) => `${key}=VALUE`).join(" ");
  throw wrongArguments(`Missing ${missing.length === 1 ? "field" : "fields"}: ${shown}`);
}

function byKey<T extends { key: string }>(fields: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const field of fields) groups.set(field.key, [...(groups.get(field.key) ?? []), field]);
  return groups;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typesOf = ({ type }: Schema): readonly unknown[] => (Array.isArray(type) ? type : [type]);

const isOnly = (schema: Schema, type: string): boolean => typesOf(schema).every((one) => one === type);

/** The first type of the schema that the text can have. Without a type it stays a text. */
function converted(key: string, text: string, schema: Schema): unknown {
  const types = typesOf(schema).filter((type) => typeof type === "string");
  if (types.length === 0 || types.includes("string")) return text;
  for (const type of types) {
    const value = asType(type, text, schema, key);
    if (value !== undefined) return value;
  }
  const wanted = types.map((type) => kinds[type as string] ?? type).join(" or ");
  throw wrongArguments(`${key} must be ${wanted}, not ${JSON.stringify(text)}.`);
}

const kinds: Readonly<Record<string, string>> = {
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a list",
  null: "null",
};

function asType(type: unknown, text: string, schema: Schema, key: string): unknown {
  switch (type) {
    case "number":
      return isNumber(text) ? Number(text) : undefined;
    case "integer":
      return isNumber(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "null":
      return text === "null" ? null : undefined;
    case "object":
      return text.trimStart().startsWith("{") ? jsonOf(key, text) : undefined;
    case "array":
      if (text.trimStart().startsWith("[")) return jsonOf(key, text);
      return converted(key, text, isSchema(schema.items) ? schema.items : {});
    default:
      return undefined;
  }
}

const isNumber = (text: string): boolean => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text);

function jsonOf(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrongArguments(`${key} is not valid JSON: ${(error as Error).message}`);
  }
}
