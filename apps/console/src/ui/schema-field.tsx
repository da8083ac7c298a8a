import { CodeArea, type ControlProps, Field, Select, TextArea, TextInput } from "./field.tsx";
import type { SchemaField as FieldOfSchema } from "./schema-form.rules.ts";

interface SchemaFieldProps {
  field: FieldOfSchema;
  value: string;
  error: string | undefined;
  onValue(text: string): void;
}

export function SchemaField({ field, error, ...typed }: SchemaFieldProps) {
  const { label, name, hint, isRequired } = field;
  return (
    <Field label={label === name ? <code>{name}</code> : label} hint={hint} required={isRequired} error={error}>
      {(control) => <SchemaInput control={control} field={field} {...typed} />}
    </Field>
  );
}

const yesNo = [
  ["true", "Yes"],
  ["false", "No"],
] as const;

type SchemaInputProps = Omit<SchemaFieldProps, "error"> & { control: ControlProps };

function SchemaInput({ control, field: { kind, choices, isRequired }, value, onValue }: SchemaInputProps) {
  const common = {
    ...control,
    value,
    onChange: (event: { target: { value: string } }) => onValue(event.target.value),
  };
  switch (kind) {
    case "choice":
    case "yes-no":
      return (
        <Select {...common}>
          <option value="">{isRequired ? "Choose" : "Not set"}</option>
          {(kind === "yes-no" ? yesNo : choices.map((choice) => [choice, choice] as const)).map(([choice, text]) => (
            <option key={choice} value={choice}>
              {text}
            </option>
          ))}
        </Select>
      );
    case "json":
    case "code":
      return <CodeArea {...common} />;
    case "lines":
      return <TextArea {...common} rows={3} spellCheck={false} />;
    case "paragraph":
      return <TextArea {...common} rows={2} />;
    case "secret":
      return <TextInput {...common} type="password" autoComplete="new-password" />;
    case "number":
      return <TextInput {...common} inputMode="decimal" />;
    case "text":
      return <TextInput {...common} />;
  }
}
