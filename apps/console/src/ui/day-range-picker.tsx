import { type DayRange, dayRange, endingAt, isSameRange, presets } from "./day-range.rules.ts";
import { Field, TextInput } from "./field.tsx";

/** Days are UTC days, like in the API. */
export function DayRangePicker({ range, onRange }: { range: DayRange; onRange(range: DayRange): void }) {
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <Field label="From (UTC)">
        {(control) => (
          <TextInput
            {...control}
            type="date"
            max={range.to}
            value={range.from ?? ""}
            onChange={(event) => onRange(dayRange({ ...range, from: event.target.value }))}
          />
        )}
      </Field>
      <Field label="To (UTC)">
        {(control) => (
          <TextInput
            {...control}
            type="date"
            min={range.from}
            value={range.to ?? ""}
            onChange={(event) => onRange(endingAt(range, event.target.value))}
          />
        )}
      </Field>
      <fieldset className="flex flex-wrap gap-1 pb-0.5">
        <legend className="sr-only">Common ranges</legend>
        {presets(new Date()).map(({ name, range: preset }) => (
          <button
            key={name}
            type="button"
            aria-pressed={isSameRange(preset, range)}
            className="rounded-md px-2 py-1 text-muted hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            onClick={() => onRange(preset)}
          >
            {name}
          </button>
        ))}
      </fieldset>
    </div>
  );
}
