import type { InputField } from "@gantry/sdk";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import type { FormField } from "./input-form.rules.ts";

/** A local file or a URL. */
export type FileValue = File | string;
export type FormValue = string | boolean | readonly FileValue[];
export type FormValues = Readonly<Record<string, FormValue>>;

export type SentValue = NonNullable<InputField>;
export type SentInput = Readonly<Record<string, SentValue>>;

export function initialValues(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, initialValue(field)]));
}

export function initialValue({ control, initial }: FormField): FormValue {
  switch (control.kind) {
    case "files":
      return [];
    case "switch":
      return initial === true;
    case "choice":
      return initial === undefined ? "" : JSON.stringify(initial);
    case "json":
      return initial === undefined ? "" : JSON.stringify(initial, null, 2);
    default:
      return initial === undefined ? "" : String(initial);
  }
}

/** Sends required fields and changed ones. The server fills in defaults. */
export function inputOf(fields: readonly FormField[], values: FormValues): SentInput {
  return Object.fromEntries(fields.flatMap((field) => sentOf(field, values[field.name] ?? initialValue(field))));
}

/** For code examples: missing required fields get a placeholder. */
export function inputWithBlanks(fields: readonly FormField[], values: FormValues): SentInput {
  const required = fields.filter(({ isRequired }) => isRequired);
  return { ...Object.fromEntries(required.map(({ name }) => [name, "…"])), ...inputOf(fields, values) };
}

function sentOf(field: FormField, value: FormValue): [string, SentValue][] {
  const { name, control, isRequired } = field;
  if (typeof value === "object") {
    const { slots, isList } = control.kind === "files" ? control : { slots: [], isList: false };
    if (isList) return value.length === 0 ? [] : [[name, value]];
    return value.slice(0, slots.length).map((file, n) => [slots[n] ?? name, file]);
  }
  if (!isRequired && value === initialValue(field)) return [];
  const sent = typeof value === "boolean" ? value : valueOfText(field, value);
  return sent === undefined ? [] : [[name, sent]];
}

function valueOfText({ control, isNullable, isRequired, initial }: FormField, text: string): SentValue | undefined {
  if (text.trim() === "") {
    // Only an empty string that replaces a default has a meaning.
    const isMeant = control.kind === "text" && !isNullable && !isRequired && initial !== undefined;
    return isMeant ? text : undefined;
  }
  if (control.kind === "text") return text;
  if (control.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  return parsed(text) ?? text;
}

function parsed(text: string): SentValue | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

export type Problems = Readonly<Record<string, string>>;

/** Checks what the form can know; the API checks the rest. */
export function problemsOf(fields: readonly FormField[], values: FormValues): Problems {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.name] ?? initialValue(field);
      const problem = problemOf(field, value);
      return problem === undefined ? [] : [[field.name, problem]];
    }),
  );
}

function problemOf({ control, isRequired }: FormField, value: FormValue): string | undefined {
  if (typeof value === "boolean") return undefined;
  if (value.length === 0 || (typeof value === "string" && value.trim() === "")) {
    return isRequired ? "This field is required" : undefined;
  }
  if (control.kind !== "json" || typeof value !== "string") return undefined;
  try {
    JSON.parse(value);
    return undefined;
  } catch {
    return "Invalid JSON";
  }
}

/** Undefined if not all issues belong to a field. */
export function problemsIn(error: unknown, fields: readonly FormField[]): Problems | undefined {
  const owners = new Map(fields.flatMap((field) => sentNames(field).map((name) => [name, field.name])));
  const { of, rest, failure } = fieldErrors(error, [...owners.keys()]);
  if (failure === undefined || rest !== undefined) return undefined;
  const problems: Record<string, string> = {};
  for (const [name, message] of Object.entries(of)) {
    const owner = owners.get(name) ?? name;
    problems[owner] = problems[owner] === undefined ? message : `${problems[owner]}; ${message}`;
  }
  return problems;
}

/** Names that the API may use for a field in an error. */
function sentNames({ name, control }: FormField): string[] {
  const names = control.kind === "files" ? [name, ...control.slots] : [name];
  return names.flatMap((sent) => [sent, `i_${sent}`]);
}
