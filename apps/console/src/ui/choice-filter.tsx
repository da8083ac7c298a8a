import { Select } from "./field.tsx";

export interface Choice {
  value: string;
  label: string;
}

interface ChoiceFilterProps<Value extends string> {
  label: string;
  /** Text of the option without a filter, such as "All models". */
  all: string;
  choices: readonly Choice[];
  value: Value | undefined;
  onValue(value: Value | undefined): void;
}

/** A filter in one line: the first option names it. */
export function ChoiceFilter<Value extends string>({ label, all, choices, value, onValue }: ChoiceFilterProps<Value>) {
  const isUnknown = value !== undefined && !choices.some((choice) => choice.value === value);
  return (
    <Select
      aria-label={label}
      className={value === undefined ? "" : "border-accent! text-accent"}
      value={value ?? ""}
      onChange={(event) => onValue((event.target.value || undefined) as Value | undefined)}
    >
      <option value="">{all}</option>
      {/* From an address: deleted since, or beyond the first page of choices. */}
      {isUnknown && <option value={value}>{value}</option>}
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </Select>
  );
}
