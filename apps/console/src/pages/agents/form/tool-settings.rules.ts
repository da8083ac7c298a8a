import type { AgentTool, ToolBinding } from "@gantry/sdk";
import { readFields, type SchemaField, schemaFields } from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";

/** Settings of a tool that its binding fixes. A setting named `secret` is the name of a stored secret. */
export function settingFields(settings: Schema | undefined): SchemaField[] {
  return settings ? schemaFields(settings).map((field) => ({ ...field, kind: lineKind(field) })) : [];
}

/** Settings are short: addresses and names. */
const lineKind = ({ kind }: SchemaField): SchemaField["kind"] => (kind === "paragraph" ? "text" : kind);

/** A tool without settings is stored as its id. */
export const asTool = (binding: ToolBinding): AgentTool => (Object.keys(binding).length > 2 ? binding : binding.id);

/** The binding with another value of one setting; an empty text removes it. */
export function withSetting(binding: ToolBinding, field: SchemaField, text: string): ToolBinding {
  const { arguments: before = {}, ...rest } = binding;
  const { [field.name]: _old, ...others } = before;
  const { values } = readFields([{ ...field, isRequired: false }], { [field.name]: text });
  const given = { ...others, ...values };
  return Object.keys(given).length === 0 ? rest : { ...rest, arguments: given };
}
