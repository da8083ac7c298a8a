import { Field, TextInput } from "./field.tsx";

export interface NewPassword {
  text: string;
  again: string;
}

interface NewPasswordFieldsProps {
  value: NewPassword;
  minLength: number | undefined;
  error?: string | undefined;
  onChange(value: NewPassword): void;
}

/** Asks twice, because the characters are hidden. */
export function NewPasswordFields({ value, minLength, error, onChange }: NewPasswordFieldsProps) {
  const differs = value.again !== "" && value.again !== value.text;
  return (
    <>
      <Field
        label="New password"
        required
        error={error}
        {...(minLength !== undefined && { hint: `At least ${minLength} characters. A few words work well.` })}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            autoComplete="new-password"
            required
            value={value.text}
            onChange={(event) => onChange({ ...value, text: event.target.value })}
          />
        )}
      </Field>
      <Field label="Repeat new password" required error={differs ? "The passwords differ." : undefined}>
        {(control) => (
          <TextInput
            {...control}
            type="password"
            autoComplete="new-password"
            required
            value={value.again}
            onChange={(event) => onChange({ ...value, again: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
