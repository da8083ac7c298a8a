import { Field, TextArea } from "../../ui/field.tsx";

interface ApproveFieldProps {
  value: string;
  error: string | undefined;
  onChange(value: string): void;
}

export function ApproveField({ value, error, onChange }: ApproveFieldProps) {
  return (
    <Field
      label="Tools that may act without asking"
      hint="Optional, one per line. Other tools that write wait for your approval in each run."
      error={error}
    >
      {(control) => (
        <TextArea
          {...control}
          rows={2}
          spellCheck={false}
          className="font-mono text-xs"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
