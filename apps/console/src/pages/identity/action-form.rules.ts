import { readObject } from "../../ui/json.rules.ts";
import {
  type InputKind,
  type ReadFields,
  readFields,
  type SchemaField,
  schemaFields,
  type Typed,
} from "../../ui/schema-form.rules.ts";
import { propertiesOf, type Schema } from "../../ui/schema-words.rules.ts";

export interface ActionForm {
  fields: SchemaField[];
  /** Whether there is more to say than the fields can: null for a value, or names that the schema does not have. */
  takesMore: boolean;
}

/** Texts that have lines of their own; all others of a tenant are short, whatever their schema says. */
const codes = /^(script|code|body|html|custom_login_page)$/;

function kindOf({ name, kind }: SchemaField): InputKind {
  if (kind !== "paragraph" && kind !== "text") return kind;
  return codes.test(name) ? "code" : "text";
}

const isNullable = ({ type }: Schema): boolean => Array.isArray(type) && type.includes("null");

/** The form for a schema of arguments. What the tenant takes by default is not sent. */
export function actionForm(schema: Schema): ActionForm {
  return {
    fields: schemaFields(schema).map((field) => ({ ...field, kind: kindOf(field), initial: "" })),
    takesMore:
      schema.additionalProperties === true || propertiesOf(schema).some(({ schema: field }) => isNullable(field)),
  };
}

/** Where the box for what the fields cannot say keeps its text. No argument has this name. */
export const moreField = "(more)";

/** What was typed, as arguments. */
export function readForm(fields: readonly SchemaField[], typed: Typed): ReadFields {
  const { values, faults } = readFields(fields, typed);
  const more = typed[moreField] ?? "";
  if (more.trim() === "") return { values, faults };
  const read = readObject(more);
  return "fault" in read
    ? { values, faults: { ...faults, [moreField]: read.fault } }
    : { values: { ...values, ...read.value }, faults };
}
