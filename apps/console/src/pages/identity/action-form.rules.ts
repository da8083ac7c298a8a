import { readObject } from "../../ui/json.rules.ts";
import {
  type InputKind,
  type ReadFields,
  readFields,
  type SchemaField,
  schemaFields,
  type Typed,
} from "../../ui/schema-form.rules.ts";
import { propertiesOf, type Schema } from "../../ui/schema-text.rules.ts";

export interface ActionForm {
  fields: SchemaField[];
  /** Whether the action accepts null values or further arguments, which the fields cannot express. */
  takesMore: boolean;
}

/** Multi-line strings; all other strings of a tenant are short, whatever their schema says. */
const codes = /^(script|code|body|html|custom_login_page)$/;

function kindOf({ name, kind }: SchemaField): InputKind {
  if (kind !== "paragraph" && kind !== "text") return kind;
  return codes.test(name) ? "code" : "text";
}

const isNullable = ({ type }: Schema): boolean => Array.isArray(type) && type.includes("null");

/** Defaults are not prefilled, because the tenant applies them itself. */
export function actionForm(schema: Schema): ActionForm {
  return {
    fields: schemaFields(schema).map((field) => ({ ...field, kind: kindOf(field), initial: "" })),
    takesMore:
      schema.additionalProperties === true || propertiesOf(schema).some(({ schema: field }) => isNullable(field)),
  };
}

/** Key of the JSON input for further arguments; no real argument has this name. */
export const moreField = "(more)";

export function readForm(fields: readonly SchemaField[], typed: Typed): ReadFields {
  const { values, faults } = readFields(fields, typed);
  const more = typed[moreField] ?? "";
  if (more.trim() === "") return { values, faults };
  const read = readObject(more);
  return "fault" in read
    ? { values, faults: { ...faults, [moreField]: read.fault } }
    : { values: { ...values, ...read.value }, faults };
}
