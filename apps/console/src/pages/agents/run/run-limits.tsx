import { Field, TextInput } from "../../../ui/field.tsx";
import type { EnteredLimits } from "./run-limits.rules.ts";

interface RunLimitsProps {
  limits: EnteredLimits;
  errors: Readonly<Record<string, string>>;
  onChange(limits: EnteredLimits): void;
}

const fields = [
  ["maxCost", "max_cost", "Max cost ($)", "Default: limited only by your balance."],
  [
    "minutes",
    "timeout_seconds",
    "Max run time (minutes)",
    "Default: 15. Time spent waiting for your approval doesn't count.",
  ],
  ["steps", "max_steps", "Max model calls", "Default: 50."],
] as const;

export function RunLimits({ limits, errors, onChange }: RunLimitsProps) {
  return (
    <details className="@container" open={fields.some(([, name]) => errors[name] !== undefined) || undefined}>
      <summary className="font-medium text-muted hover:text-ink">Limits</summary>
      <div className="mt-3 grid gap-3 @lg:grid-cols-3">
        {fields.map(([field, name, label, hint]) => (
          <Field key={field} label={label} hint={hint} error={errors[name]}>
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
