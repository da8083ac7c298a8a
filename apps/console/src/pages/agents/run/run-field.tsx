import { Field, Select, TextArea, TextInput } from "../../../ui/field.tsx";
import type { RunField as FieldOfRun } from "./run-fields.rules.ts";

interface RunFieldProps {
  field: FieldOfRun;
  value: string;
  error: string | undefined;
  onChange(value: string): void;
}

export function RunField({ field, value, error, onChange }: RunFieldProps) {
  const { kind, label, hint, required, options, isLong } = field;
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(control) => {
        const common = {
          ...control,
          value,
          onChange: (event: { target: { value: string } }) => onChange(event.target.value),
        };
        if (kind === "choice" || kind === "yes-or-no") {
          const shown =
            kind === "choice"
              ? options.map((one) => [one, one])
              : [
                  ["true", "Yes"],
                  ["false", "No"],
                ];
          return (
            <Select {...common}>
              <option value="">{required ? "Choose" : "Leave out"}</option>
              {shown.map(([given, said]) => (
                <option key={given} value={given}>
                  {said}
                </option>
              ))}
            </Select>
          );
        }
        if (kind === "json") return <TextArea {...common} rows={3} spellCheck={false} className="font-mono text-xs" />;
        if (kind === "lines" || (kind === "text" && isLong)) return <TextArea {...common} rows={2} />;
        return <TextInput {...common} inputMode={kind === "text" ? "text" : "decimal"} />;
      }}
    </Field>
  );
}
