import { isRecord, pretty } from "./json.rules.ts";
import { propertiesOf, type Schema, textIn, typesOf } from "./schema-text.rules.ts";

/** `lines`: one string per line. `json`: structured values. */
export type InputKind = "text" | "paragraph" | "code" | "secret" | "number" | "yes-no" | "choice" | "lines" | "json";

/** A field of a form. Every value is entered as text. */
export interface SchemaField {
  name: string;
  label: string;
  kind: InputKind;
  hint: string | undefined;
  isRequired: boolean;
  initial: string;
  choices: readonly string[];
}

/** Required fields first. */
export function schemaFields(schema: Schema): SchemaField[] {
  return propertiesOf(schema).map(({ name, isRequired, schema: field }) => {
    const kind = kindOf(field);
    return {
      name,
      label: textIn(field.title) ?? name,
      kind,
      hint: hintOf(field, kind),
      isRequired,
      initial: field.default === undefined || field.default === null ? "" : asTyped(field.default, kind),
      choices: choicesIn(field) ?? [],
    };
  });
}

/** Longer strings get a text area. */
const longestLine = 200;

function kindOf(schema: Schema): InputKind {
  const [type, ...others] = typesOf(schema);
  if (choicesIn(schema)) return "choice";
  if (others.length > 0) return "json";
  if (type === "boolean") return "yes-no";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") {
    const { items } = schema;
    return isRecord(items) && typesOf(items).join() === "string" && !items.enum ? "lines" : "json";
  }
  if (type !== "string") return "json";
  if (schema.writeOnly) return "secret";
  return typeof schema.maxLength === "number" && schema.maxLength <= longestLine ? "text" : "paragraph";
}

/** Only strings: a select would turn other values into strings. */
function choicesIn({ enum: values }: Schema): string[] | undefined {
  const given = Array.isArray(values) ? values.filter((value) => value !== null) : [];
  return given.length > 0 && given.every((value) => typeof value === "string") ? given : undefined;
}

const forms: Readonly<Record<string, string>> = { array: "JSON list.", object: "JSON object." };

function hintOf(schema: Schema, kind: InputKind): string | undefined {
  return hint(schema.description, [
    kind === "number" ? boundsText(schema) : undefined,
    kind === "lines" ? "One per line." : undefined,
    kind === "json" ? (forms[typesOf(schema).join()] ?? "JSON.") : undefined,
  ]);
}

/** The schema's description, then sentences that the form adds. */
export function hint(description: unknown, further: readonly (string | undefined)[]): string | undefined {
  const added = further.filter((part) => part !== undefined);
  const first = textIn(description);
  const ended = first !== undefined && added.length > 0 && !/[.!?:]$/.test(first) ? `${first}.` : first;
  return [ended ?? [], ...added].flat().join(" ") || undefined;
}

export function boundsText({ minimum: least, maximum: most }: Schema): string | undefined {
  if (typeof least === "number" && typeof most === "number") return `Between ${least} and ${most}.`;
  if (typeof least === "number") return `At least ${least}.`;
  return typeof most === "number" ? `At most ${most}.` : undefined;
}

function asTyped(value: unknown, kind: InputKind): string {
  if (kind === "lines" && Array.isArray(value)) return value.join("\n");
  if (kind === "json") return pretty(value);
  return typeof value === "object" ? "" : String(value);
}

export type Typed = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, unknown>>;

/** The texts that stand for the values of an earlier run. Fields that it left out stay empty. */
export function typedFrom(fields: readonly SchemaField[], values: Values): Typed {
  const textOf = ({ name, kind }: SchemaField) => (Object.hasOwn(values, name) ? asTyped(values[name], kind) : "");
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field)]));
}

export interface ReadFields {
  values: Record<string, unknown>;
  /** Messages by field. */
  faults: Record<string, string>;
}

/**
 * Parses the entered text. Empty fields are left out. A field whose text is still that of `before` keeps its value, which
 * a text does not always express.
 */
export function readFields(fields: readonly SchemaField[], typed: Typed, before: Values = {}): ReadFields {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  const unchanged = typedFrom(fields, before);
  for (const { name, kind, isRequired, initial } of fields) {
    const text = typed[name] ?? initial;
    if (Object.hasOwn(before, name) && text === unchanged[name]) {
      values[name] = before[name];
      continue;
    }
    if (text.trim() === "") {
      if (isRequired) faults[name] = "This field is required";
      continue;
    }
    const value = readAs(kind, text);
    if (value === undefined) faults[name] = kind === "json" ? "Invalid JSON" : "Must be a number";
    else values[name] = value;
  }
  return { values, faults };
}

/** The values of a form, with those of an earlier input that the form does not show. An equal input is `before` itself. */
export function withUnshown(
  schema: Schema,
  values: Record<string, unknown>,
  before: Record<string, unknown>,
): Record<string, unknown> {
  const shown = new Set(propertiesOf(schema).map(({ name }) => name));
  const mayHaveOthers = schema.additionalProperties !== false || schema.patternProperties !== undefined;
  const others = Object.entries(before).filter(([name]) => mayHaveOthers && !shown.has(name));
  const whole = { ...Object.fromEntries(others), ...values };
  const names = Object.keys(whole);
  const isEqual = names.length === Object.keys(before).length && names.every((name) => whole[name] === before[name]);
  return isEqual ? before : whole;
}

function readAs(kind: InputKind, text: string): unknown {
  switch (kind) {
    case "number":
      return Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "yes-no":
      return text === "true";
    case "lines": {
      const lines = text.split("\n").map((line) => line.trim());
      return lines.filter((line) => line !== "");
    }
    case "json":
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
    case "text":
      return text.trim();
    default:
      return text;
  }
}
