import type { FieldSchema, JsonValue, ObjectSchema } from "@gantry/sdk";
import { closest } from "../frame/distance.rules.ts";
import { wrongArguments } from "../frame/failure.ts";

/** One `name=value` as typed. */
export interface TypedField {
  name: string;
  /** `name=text`, `name=-`, `name:=json`, `name=@path` or `name=@-`. */
  form: "text" | "stdin" | "json" | "file" | "stdin-file";
  /** Without the marks. */
  value: string;
}

/** Reads the words after the model. Text without a name is the prompt. */
export function readFields(words: readonly string[], { properties }: ObjectSchema): TypedField[] {
  return words.map((word) => {
    const [, name, mark, value = ""] = /^([A-Za-z_][\w-]{0,63})(:?=)(.*)$/s.exec(word) ?? [];
    if (name !== undefined && Object.hasOwn(properties, name)) return fieldOf(name, mark === ":=", value);
    const isPrompt = (name === undefined || /\s/.test(word)) && Object.hasOwn(properties, "prompt");
    if (isPrompt) return { name: "prompt", form: word === "-" ? "stdin" : "text", value: word };
    if (name === undefined) throw wrongArguments(`Write ${word} as FIELD=VALUE. Fields: ${namesOf(properties)}`);
    const meant = closest(name, Object.keys(properties));
    throw wrongArguments(
      `Unknown field ${name}.${meant === undefined ? ` Fields: ${namesOf(properties)}` : ` Did you mean ${meant}?`}`,
    );
  });
}

function fieldOf(name: string, isJson: boolean, value: string): TypedField {
  if (isJson) return { name, form: "json", value };
  if (value === "-") return { name, form: "stdin", value: "" };
  if (value === "@-") return { name, form: "stdin-file", value: "" };
  return value.startsWith("@") ? { name, form: "file", value: value.slice(1) } : { name, form: "text", value };
}

const namesOf = (properties: ObjectSchema["properties"]): string => Object.keys(properties).join(", ") || "none";

/** Before files are read and work is paid for. */
export function checkNames(fields: readonly TypedField[], { properties, required = [] }: ObjectSchema): void {
  const given = new Set(fields.map(({ name }) => name));
  // The default of a required field is an example: the server does not fill it in.
  const missing = required.filter((name) => !given.has(name));
  if (missing.length > 0) {
    const shown = missing.map((name) => `${name}=${exampleOf(properties[name] ?? {})}`);
    throw wrongArguments(`Missing ${missing.length === 1 ? "field" : "fields"}: ${shown.join(" ")}`);
  }
  for (const name of given) {
    if (fields.filter((one) => one.name === name).length > 1 && !isList(properties[name] ?? {})) {
      throw wrongArguments(`Give ${name} only once.`);
    }
  }
}

export const typeOf = ({ type }: FieldSchema): string =>
  (Array.isArray(type) ? type.find((one) => one !== "null") : type) ?? "string";

export const isList = (field: FieldSchema): boolean => typeOf(field) === "array";

/** Also for a list of files. */
export const takesFiles = (field: FieldSchema): boolean =>
  field.format === "binary" || (isList(field) && (field.items as FieldSchema | undefined)?.format === "binary");

export function exampleOf(field: FieldSchema): string {
  if (takesFiles(field)) return "@FILE";
  if (field.enum) return field.enum.map(String).join("|");
  const examples: Record<string, string> = {
    integer: "NUMBER",
    number: "NUMBER",
    boolean: "true|false",
    object: "JSON",
  };
  return isList(field)
    ? exampleOf((field.items as FieldSchema | undefined) ?? {})
    : (examples[typeOf(field)] ?? "TEXT");
}

/** What a field takes, in words: `a whole number from 1 to 8`. */
export function describeField(field: FieldSchema): string {
  if (isList(field)) return `a list, each ${describeField((field.items as FieldSchema | undefined) ?? {})}`;
  if (field.format === "binary") {
    const media = field["x-media"] ?? "file";
    return `${media === "file" ? "a file" : `${/^[aeiou]/.test(media) ? "an" : "a"} ${media} file`}, as @path or a URL`;
  }
  if (field.enum) return `one of: ${field.enum.map(String).join(", ")}`;
  const { minimum: low, maximum: high } = field;
  const range =
    low !== undefined && high !== undefined
      ? ` from ${low} to ${high}`
      : low !== undefined
        ? ` from ${low}`
        : high !== undefined
          ? ` up to ${high}`
          : "";
  const words: Record<string, string> = {
    integer: `a whole number${range}`,
    number: `a number${range}`,
    boolean: "true or false",
    object: "a JSON object",
  };
  return words[typeOf(field)] ?? "text";
}

/** Converts a text to the type of its field. The server checks the rest, such as lengths. */
export function fieldValue(name: string, field: FieldSchema, text: string): JsonValue {
  const entry = isList(field) && !/^\s*\[/.test(text) ? ((field.items as FieldSchema | undefined) ?? {}) : field;
  const value = converted(entry, text);
  if (value === undefined || !isAllowed(entry, value)) {
    throw wrongArguments(`${name} must be ${describeField(entry)}, not ${JSON.stringify(text.slice(0, 80))}.`);
  }
  return value;
}

function converted(field: FieldSchema, text: string): JsonValue | undefined {
  switch (typeOf(field)) {
    case "integer":
      return /^\s*[-+]?\d+\s*$/.test(text) ? Number(text) : undefined;
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "boolean":
      return { true: true, false: false, yes: true, no: false, on: true, off: false }[text.trim().toLowerCase()];
    case "array":
    case "object":
      return parsedJson(text);
    default:
      return text;
  }
}

export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isAllowed({ enum: allowed, minimum, maximum }: FieldSchema, value: JsonValue): boolean {
  if (allowed && !allowed.includes(value)) return false;
  if (typeof value !== "number") return true;
  return value >= (minimum ?? Number.NEGATIVE_INFINITY) && value <= (maximum ?? Number.POSITIVE_INFINITY);
}
