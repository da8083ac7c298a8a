import { Field, TextInput } from "../../../ui/field.tsx";
import type { WrittenLimits } from "./run-limits.rules.ts";

interface RunLimitsProps {
  limits: WrittenLimits;
  errors: Readonly<Record<string, string>>;
  onChange(limits: WrittenLimits): void;
}

const fields = [
  ["maxCost", "max_cost", "Cost at most, in dollars", "No limit but your balance"],
  ["minutes", "timeout_seconds", "Minutes of work", "15; waiting for an answer does not count"],
  ["steps", "max_steps", "Calls of the model", "50"],
] as const;

/** Folded: most runs do without. */
export function RunLimits({ limits, errors, onChange }: RunLimitsProps) {
  return (
    <details open={fields.some(([, name]) => errors[name] !== undefined) || undefined}>
      <summary className="font-medium text-muted hover:text-ink">Limits</summary>
      <div className="mt-3 grid gap-3 sm:grid-cols-3">
        {fields.map(([field, name, label, otherwise]) => (
          <Field key={field} label={label} hint={`Left empty: ${otherwise}.`} error={errors[name]}>
            {(control) => (
              <TextInput
                {...control}
                inputMode="decimal"
                value={limits[field]}
                onChange={(event) => onChange({ ...limits, [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}
