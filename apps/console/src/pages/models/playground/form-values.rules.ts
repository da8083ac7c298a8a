import type { InputField } from "@gantry/sdk";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import type { FormField } from "./input-form.rules.ts";

/** A file of this machine, or the address of one elsewhere. */
export type FileValue = File | string;
/** What a control holds: its text, whether it is on, or its files. */
export type FormValue = string | boolean | readonly FileValue[];
export type FormValues = Readonly<Record<string, FormValue>>;

/** What JSON holds, or a file. */
export type SentValue = NonNullable<InputField>;
/** What goes out, by the names of the schema. */
export type SentInput = Readonly<Record<string, SentValue>>;

export function initialValues(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, initialValue(field)]));
}

function initialValue({ control, initial }: FormField): FormValue {
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

/** What is sent: required fields, and those that are not as they stand at first, which is the service's default. */
export function inputOf(fields: readonly FormField[], values: FormValues): SentInput {
  return Object.fromEntries(fields.flatMap((field) => sentOf(field, values[field.name] ?? initialValue(field))));
}

/** The same for an example: what is required and not there yet has a mark in its place. */
export function inputWithBlanks(fields: readonly FormField[], values: FormValues): SentInput {
  const required = fields.filter(({ isRequired }) => isRequired);
  return { ...Object.fromEntries(required.map(({ name }) => [name, "…"])), ...inputOf(fields, values) };
}

function sentOf(field: FormField, value: FormValue): [string, SentValue][] {
  const { name, control, isRequired } = field;
  if (typeof value === "object") {
    const slots = control.kind === "files" ? control.slots : [];
    return value.slice(0, slots.length).map((file, n) => [slots[n] ?? name, file]);
  }
  if (!isRequired && value === initialValue(field)) return [];
  const sent = typeof value === "boolean" ? value : valueOfText(field, value);
  return sent === undefined ? [] : [[name, sent]];
}

function valueOfText({ control, isNullable, isRequired, initial }: FormField, text: string): SentValue | undefined {
  if (text.trim() === "") {
    // An empty text instead of a default is something to say; otherwise nothing was said.
    const isSaid = control.kind === "text" && !isNullable && !isRequired && initial !== undefined;
    return isSaid ? text : undefined;
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

/** What is wrong before anything is sent; all else the service knows better. */
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
    return "This is no JSON";
  }
}

/** What the service found wrong, at the fields that it names; undefined where something else is wrong too. */
export function problemsIn(error: unknown, fields: readonly FormField[]): Problems | undefined {
  const owners = new Map(fields.flatMap((field) => sentNames(field).map((name) => [name, field.name])));
  const { of, rest, failure } = fieldErrors(error, [...owners.keys()]);
  if (failure === undefined || rest !== undefined) return undefined;
  const problems: Record<string, string> = {};
  for (const [name, sentence] of Object.entries(of)) {
    const owner = owners.get(name) ?? name;
    problems[owner] = problems[owner] === undefined ? sentence : `${problems[owner]}; ${sentence}`;
  }
  return problems;
}

/** The names under which a field may be sent, and so be refused. */
function sentNames({ name, control }: FormField): string[] {
  const names = control.kind === "files" ? [name, ...control.slots] : [name];
  return names.flatMap((one) => [one, `i_${one}`]);
}
