import type { ToolBinding } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { Field, Select } from "../../../ui/field.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { SchemaField } from "../../../ui/schema-field.tsx";
import type { SchemaField as FieldOfSchema } from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";
import { settingFields, withSetting } from "./tool-settings.rules.ts";

interface ToolSettingsProps {
  binding: ToolBinding;
  settings: Schema;
  onChange(binding: ToolBinding): void;
}

/** Values that the creator fixes and the model does not see, such as the provider of a search. */
export function ToolSettings({ binding, settings, onChange }: ToolSettingsProps) {
  const entered = ({ name, initial }: FieldOfSchema) => {
    const value = binding.arguments?.[name];
    return value === undefined ? initial : typeof value === "string" ? value : JSON.stringify(value);
  };
  return (
    <fieldset className="grid basis-full gap-3 rounded-md border border-line p-3 sm:grid-cols-2">
      <legend className="px-1 text-muted text-xs">Settings of {binding.id}</legend>
      {settingFields(settings).map((field) => {
        const change = (text: string) => onChange(withSetting(binding, field, text));
        return field.name === "secret" ? (
          <SecretField key={field.name} field={field} value={entered(field)} onValue={change} />
        ) : (
          <SchemaField key={field.name} field={field} value={entered(field)} error={undefined} onValue={change} />
        );
      })}
    </fieldset>
  );
}

interface SecretFieldProps {
  field: FieldOfSchema;
  value: string;
  onValue(text: string): void;
}

function SecretField({ field: { label, hint }, value, onValue }: SecretFieldProps) {
  const secrets = useQuery({
    queryKey: ["secrets", "names"],
    queryFn: ({ signal }) => Array.fromAsync(api.secrets.each({ signal })),
  });
  const names = secrets.data?.map(({ name }) => name) ?? [];
  return (
    <Field
      label={label}
      hint={
        <>
          {hint} <TextLink to="/secrets">Store a secret</TextLink>
        </>
      }
    >
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onValue(event.target.value)}>
          <option value="">None</option>
          {value !== "" && !names.includes(value) && <option value={value}>{value}</option>}
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
