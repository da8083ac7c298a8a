import { useState } from "react";
import { type RangeSearch, rangeNames } from "../../ui/chart/range.rules.ts";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { dayRange, endingAt } from "../../ui/day-range.rules.ts";
import { TextInput } from "../../ui/field.tsx";
import { timeChoices } from "./time-range.rules.ts";

interface TimeFilterProps {
  value: RangeSearch;
  /** Parameters that are not part of it must be removed from the address. */
  onValue(value: RangeSearch): void;
}

/** Up to now, or days of UTC with one or both ends. */
export function TimeFilter({ value: { range, from, to }, onValue }: TimeFilterProps) {
  const [wantsDays, setWantsDays] = useState(false);
  const isCustom = from !== undefined || to !== undefined || (wantsDays && range === undefined);
  const days = { ...(from && { from }), ...(to && { to }) };
  return (
    <>
      <ChoiceFilter
        label="Time"
        all="Any time"
        choices={timeChoices}
        value={isCustom ? "custom" : range}
        onValue={(wanted) => {
          const name = rangeNames.find((known) => known === wanted);
          setWantsDays(wanted === "custom");
          onValue(name ? { range: name } : {});
        }}
      />
      {isCustom && (
        <div className="col-span-full flex max-w-md items-center gap-2">
          <TextInput
            type="date"
            aria-label="From (UTC)"
            max={to}
            value={from ?? ""}
            onChange={({ target }) => onValue(dayRange({ ...days, from: target.value }))}
          />
          <span className="text-muted">to</span>
          <TextInput
            type="date"
            aria-label="To (UTC)"
            min={from}
            value={to ?? ""}
            onChange={({ target }) => onValue(endingAt(days, target.value))}
          />
          <span className="text-muted">UTC</span>
        </div>
      )}
    </>
  );
}
