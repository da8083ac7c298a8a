import { isRecord } from "../json.rules.ts";

type Kind = "text" | "number" | "integer" | "yes-or-no" | "choice" | "lines" | "json";

/** One field of a run's input, as a form asks for it. */
export interface RunField {
  name: string;
  kind: Kind;
  label: string;
  hint: string | undefined;
  required: boolean;
  /** What the form begins with. */
  initial: string;
  /** Of a choice. */
  options: readonly string[];
  isLong: boolean;
}

type Schema = Record<string, unknown>;

/** The fields of a schema; undefined where it says too little, and the input is best written as JSON. */
export function runFieldsOf(schema: Schema): RunField[] | undefined {
  if (!isRecord(schema.properties) || Object.keys(schema.properties).length === 0) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, given]) => {
    const field = isRecord(given) ? given : {};
    const kind = kindOf(field);
    return {
      name,
      kind,
      label: typeof field.title === "string" && field.title !== "" ? field.title : name,
      hint: hintOf(field, kind),
      required: required.includes(name),
      initial: field.default === undefined ? "" : asWritten(field.default, kind),
      options: Array.isArray(field.enum) ? field.enum.map(String) : [],
      isLong: typeof field.maxLength !== "number" || field.maxLength > 200,
    };
  });
}

function kindOf({ type, items, enum: values }: Schema): Kind {
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) return "choice";
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return type;
  if (type === "boolean") return "yes-or-no";
  return type === "array" && isRecord(items) && items.type === "string" && !items.enum ? "lines" : "json";
}

function hintOf({ description, minimum, maximum, type }: Schema, kind: Kind): string | undefined {
  const parts = [
    ...(typeof description === "string" && description !== "" ? [description] : []),
    ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(minimum !== undefined && maximum === undefined ? [`at least ${minimum}`] : []),
    ...(minimum === undefined && maximum !== undefined ? [`at most ${maximum}`] : []),
    ...(kind === "lines" ? ["one a line"] : []),
    ...(kind === "json" ? [type === "array" ? "JSON: a list" : type === "object" ? "JSON: an object" : "JSON"] : []),
  ];
  const [first, ...rest] = parts;
  if (first === undefined) return undefined;
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(", ");
}

function asWritten(value: unknown, kind: Kind): string {
  if (kind === "lines" && Array.isArray(value)) return value.join("\n");
  if (kind === "json") return JSON.stringify(value);
  return typeof value === "object" ? "" : String(value);
}

export type Written = Readonly<Record<string, string>>;

/** The input as it is sent: what is left empty is left out. Or what is wrong, by field. */
export function inputOf(
  fields: readonly RunField[],
  written: Written,
): { input: Record<string, unknown> } | { faults: Record<string, string> } {
  const input: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const text = written[field.name] ?? field.initial;
    if (text.trim() === "") {
      if (field.required) faults[field.name] = "This is needed";
      continue;
    }
    const value = readAs(field.kind, text);
    if (value === undefined) faults[field.name] = field.kind === "json" ? "No valid JSON" : "Must be a number";
    else input[field.name] = value;
  }
  return Object.keys(faults).length > 0 ? { faults } : { input };
}

function readAs(kind: Kind, text: string): unknown {
  if (kind === "yes-or-no") return text === "true";
  if (kind === "text" || kind === "choice") return text;
  if (kind === "lines") {
    const lines = text.split("\n").map((line) => line.trim());
    return lines.filter((line) => line !== "");
  }
  if (kind !== "json") {
    const number = Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an input may look like, for an example of a call: the required fields, with something in them. */
export function exampleInput(schema: Schema): Record<string, unknown> {
  const examples: Record<Kind, unknown> = {
    text: "…",
    choice: "…",
    number: 1,
    integer: 1,
    "yes-or-no": true,
    lines: ["…"],
    json: {},
  };
  const needed = (runFieldsOf(schema) ?? []).filter(({ required }) => required);
  return Object.fromEntries(needed.map(({ name, kind, options }) => [name, options[0] ?? examples[kind]]));
}
