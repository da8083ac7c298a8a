import { Field, TextInput } from "../../ui/field.tsx";
import type { LimitDraft, LimitIssues } from "./key-request.rules.ts";

interface KeyLimitFieldsProps {
  draft: LimitDraft;
  /** By the names of the draft. */
  errors: LimitIssues;
  onChange(change: Partial<LimitDraft>): void;
  /** True only of a key. */
  ofKey?: boolean;
}

const monthly = "Resets on the 1st (UTC) and includes amounts on hold. Leave empty for no limit.";

const fields = [
  {
    name: "limit",
    label: "Monthly limit ($)",
    hint: monthly,
    keyHint: `${monthly} Keys with a limit can't manage models or secrets.`,
    mode: "decimal",
  },
  {
    name: "dailyLimit",
    label: "Daily limit ($)",
    hint: "Resets at midnight (UTC) and includes amounts on hold.",
    keyHint: undefined,
    mode: "decimal",
  },
  {
    name: "tokens",
    label: "Tokens per minute",
    hint: "Input and output tokens of requests accepted within a minute.",
    keyHint: undefined,
    mode: "numeric",
  },
] as const;

export function KeyLimitFields({ draft, errors, onChange, ofKey = true }: KeyLimitFieldsProps) {
  return fields.map(({ name, label, hint, keyHint, mode }) => (
    <Field key={name} label={label} hint={ofKey ? (keyHint ?? hint) : hint} error={errors[name]}>
      {(control) => (
        <TextInput
          {...control}
          inputMode={mode}
          placeholder="No limit"
          value={draft[name]}
          onChange={(e) => onChange({ [name]: e.target.value })}
        />
      )}
    </Field>
  ));
}
