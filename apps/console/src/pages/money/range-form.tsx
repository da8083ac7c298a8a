import { type FormEvent, useEffect, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { type DayRange, isBackwards, isSame, presets } from "./date-range.rules.ts";

interface RangeFormProps {
  range: DayRange;
  onRange(range: DayRange): void;
}

/** Of which days: by a preset, or from one day to another. */
export function RangeForm({ range, onRange }: RangeFormProps) {
  const [{ from = "", to = "" }, setDays] = useState(range);
  useEffect(() => setDays({ from: range.from, to: range.to }), [range.from, range.to]);
  const isWrong = isBackwards({ from, to });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isWrong) onRange({ from: from || undefined, to: to || undefined });
  };
  const isNew = !isSame({ from: from || undefined, to: to || undefined }, range);
  return (
    <form className="flex flex-wrap items-center gap-x-4 gap-y-2" onSubmit={submit}>
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">Range</legend>
        {presets(new Date()).map(({ name, range: preset }) => (
          <button
            key={name}
            type="button"
            aria-pressed={isSame(preset, range)}
            className="rounded-md px-2 py-1 text-muted hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            onClick={() => onRange(preset)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <div className="flex flex-wrap items-center gap-2">
        <TextInput
          type="date"
          aria-label="First day (UTC)"
          className="max-w-36"
          value={from}
          onChange={(event) => setDays({ from: event.target.value, to })}
        />
        <span className="text-muted">to</span>
        <TextInput
          type="date"
          aria-label="Last day (UTC)"
          className="max-w-36"
          aria-invalid={isWrong || undefined}
          value={to}
          onChange={(event) => setDays({ from, to: event.target.value })}
        />
        {isNew && (
          <Button type="submit" disabled={isWrong}>
            Show
          </Button>
        )}
        {isWrong && (
          <span role="alert" className="text-bad text-xs">
            It ends before it begins
          </span>
        )}
      </div>
    </form>
  );
}
