import { Button } from "../../ui/button.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { type DayRange, dayRange, lastDays } from "./day-range.rules.ts";

const presets: readonly { label: string; range(now: Date): DayRange }[] = [
  { label: "Today", range: (now) => lastDays(1, now) },
  { label: "7 days", range: (now) => lastDays(7, now) },
  { label: "30 days", range: (now) => lastDays(30, now) },
  { label: "All", range: () => ({}) },
];

const isSame = (one: DayRange, other: DayRange) => one.from === other.from && one.to === other.to;

/** The end that was just chosen counts, and not a beginning behind it. */
const endingAt = ({ from = "" }: DayRange, to: string): DayRange =>
  dayRange(to !== "" && to < from ? { to } : { from, to });

/** Days are those of UTC, as the service counts them. */
export function DayRangePicker({ range, onRange }: { range: DayRange; onRange(range: DayRange): void }) {
  const now = new Date();
  return (
    <div className="flex flex-wrap items-end gap-3">
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
      <fieldset className="flex gap-1">
        <legend className="sr-only">Common ranges</legend>
        {presets.map(({ label, range: rangeOf }) => {
          const wanted = rangeOf(now);
          const isChosen = isSame(wanted, range);
          return (
            <Button
              key={label}
              kind="quiet"
              aria-pressed={isChosen}
              className={isChosen ? "bg-sunken text-ink" : ""}
              onClick={() => onRange(wanted)}
            >
              {label}
            </Button>
          );
        })}
      </fieldset>
    </div>
  );
}
