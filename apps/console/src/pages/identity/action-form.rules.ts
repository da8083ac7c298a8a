import type { ShownSchema } from "../../ui/schema-words.rules.ts";

/** How an argument is asked for. `lines`: one text a line; `json`: whatever has parts. */
export type InputKind = "text" | "long-text" | "secret" | "number" | "yes-no" | "choice" | "lines" | "json";

export interface ActionField {
  name: string;
  kind: InputKind;
  isRequired: boolean;
  hint: string;
  choices: string[];
}

export interface ActionForm {
  fields: ActionField[];
  /** Whether there is more to say than the fields can: null for a value, or names that the schema does not have. */
  takesMore: boolean;
}

/** Texts that have lines of their own. */
const longTexts = /^(script|code|body|html|custom_login_page)$/;

const typesOf = ({ type }: ShownSchema): string[] => [type ?? []].flat();

function kindOf(name: string, schema: ShownSchema): InputKind {
  const types = typesOf(schema);
  const [type] = types.filter((one) => one !== "null");
  if (type === "array") return typesOf(schema.items ?? {}).join() === "string" ? "lines" : "json";
  if (Array.isArray(schema.enum)) return "choice";
  if (type === "boolean") return "yes-no";
  if (type === "integer" || type === "number") return "number";
  if (type !== "string") return "json";
  if (schema.writeOnly) return "secret";
  return longTexts.test(name) ? "long-text" : "text";
}

/** The form for a schema of arguments, what must be given first. */
export function actionForm(schema: ShownSchema): ActionForm {
  const properties = Object.entries(schema.properties ?? {});
  const fields = properties.map(([name, one]): ActionField => {
    const kind = kindOf(name, one);
    const further = kind === "lines" ? ["One a line."] : kind === "json" ? ["As JSON."] : [];
    return {
      name,
      kind,
      isRequired: schema.required?.includes(name) ?? false,
      hint: [one.description ?? "", ...further].join(" ").trim(),
      choices: (one.enum ?? []).filter((choice) => choice !== null).map(String),
    };
  });
  return {
    fields: fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired)),
    takesMore: schema.additionalProperties === true || properties.some(([, one]) => typesOf(one).includes("null")),
  };
}

/** Where the box for what the fields cannot say keeps its text. No argument has this name. */
export const moreField = "(more)";

export interface ReadForm {
  args: Record<string, unknown>;
  /** What cannot be sent, by field. */
  errors: Record<string, string>;
}

/** What was typed, as arguments. What was left empty is not sent. */
export function readForm(fields: readonly ActionField[], typed: Readonly<Record<string, string>>): ReadForm {
  const args: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const { name, kind } of fields) {
    const text = typed[name] ?? "";
    if (text.trim() === "") continue;
    try {
      args[name] = typedValue(kind, text);
    } catch (error) {
      errors[name] = (error as Error).message;
    }
  }
  const more = typed[moreField] ?? "";
  if (more.trim() === "") return { args, errors };
  try {
    const value = parsed(more);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("Must be a JSON object");
    Object.assign(args, value);
  } catch (error) {
    errors[moreField] = (error as Error).message;
  }
  return { args, errors };
}

function typedValue(kind: InputKind, text: string): unknown {
  switch (kind) {
    case "number":
      return numberOf(text);
    case "yes-no":
      return text === "true";
    case "lines":
      return text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    case "json":
      return parsed(text);
    case "long-text":
    case "secret":
      return text;
    default:
      return text.trim();
  }
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error("Must be a number");
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Is no JSON: ${(error as Error).message}`);
  }
}
