import { useState } from "react";
import { seesOwnUsageOnly } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../button.tsx";
import { TextInput } from "../field.tsx";
import {
  type ChartRange,
  daysShown,
  type RangeSearch,
  rangeLabel,
  rangeNames,
  rangeSearch,
  rangeTitles,
  shortRangeNames,
} from "./range.rules.ts";

interface RangePickerProps {
  range: ChartRange;
  /** The new search parameters: those that are not part of it must be removed from the address. */
  onRange(search: RangeSearch): void;
}

const segment =
  "h-full px-2.5 text-muted -outline-offset-2 hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent";

/** 24 hours to 90 days up to now, or days of UTC. */
export function RangePicker({ range, onRange }: RangePickerProps) {
  const isCustom = !("range" in range);
  const [isOpen, setIsOpen] = useState(isCustom);
  const names = seesOwnUsageOnly(useSession().key) ? shortRangeNames : rangeNames;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <fieldset className="flex h-8 divide-x divide-line overflow-hidden rounded-md border border-strong-line bg-panel">
        <legend className="sr-only">Time range</legend>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            className={segment}
            aria-pressed={!isCustom && range.range === name}
            onClick={() => {
              setIsOpen(false);
              onRange({ range: name });
            }}
          >
            <span aria-hidden>{rangeLabel(name)}</span>
            <span className="sr-only">Last {rangeTitles[name]}</span>
          </button>
        ))}
        <button
          type="button"
          className={segment}
          aria-pressed={isCustom}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Custom
        </button>
      </fieldset>
      {isOpen && <CustomDays days={daysShown(range, Date.now())} onDays={onRange} />}
    </div>
  );
}

function CustomDays({ days, onDays }: { days: { from: string; to: string }; onDays(search: RangeSearch): void }) {
  const [from, setFrom] = useState(days.from);
  const [to, setTo] = useState(days.to);
  const wanted = rangeSearch({ from, to });
  const isValid = wanted.from !== undefined;
  return (
    <form
      className="flex flex-wrap items-center gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onDays(wanted);
      }}
    >
      <TextInput
        type="date"
        aria-label="From (UTC)"
        max={to}
        value={from}
        onChange={({ target }) => setFrom(target.value)}
      />
      <span className="text-muted">to</span>
      <TextInput
        type="date"
        aria-label="To (UTC)"
        min={from}
        value={to}
        onChange={({ target }) => setTo(target.value)}
      />
      <Button type="submit" disabled={!isValid} title={isValid ? undefined : "Choose at most 400 days, first to last"}>
        Apply
      </Button>
    </form>
  );
}
