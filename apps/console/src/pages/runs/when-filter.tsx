import { useState } from "react";
import { type DayRange, dayRange, endingAt, isSameRange, presets } from "../../ui/day-range.rules.ts";
import { Select, TextInput } from "../../ui/field.tsx";

const custom = "custom";
const anyTime = "All";

/** Common ranges in one control; a custom range adds its two days. Days are UTC days, like in the API. */
export function WhenFilter({ range, onRange }: { range: DayRange; onRange(range: DayRange): void }) {
  const [isCustom, setCustom] = useState(false);
  const known = presets(new Date());
  const chosen = known.find((preset) => isSameRange(preset.range, range))?.name;
  const value = isCustom || chosen === undefined ? custom : chosen;
  return (
    <>
      <Select
        aria-label="Time"
        className="min-w-36 flex-1 sm:max-w-40"
        value={value}
        onChange={({ target }) => {
          setCustom(target.value === custom);
          const preset = known.find(({ name }) => name === target.value);
          if (preset) onRange(preset.range);
        }}
      >
        {known.toReversed().map(({ name }) => (
          <option key={name} value={name}>
            {name === anyTime ? "Any time" : name}
          </option>
        ))}
        <option value={custom}>Custom range (UTC)</option>
      </Select>
      {value === custom && (
        <>
          <TextInput
            type="date"
            aria-label="From (UTC)"
            className="min-w-36 flex-1 sm:max-w-40"
            max={range.to}
            value={range.from ?? ""}
            onChange={({ target }) => onRange(dayRange({ ...range, from: target.value }))}
          />
          <TextInput
            type="date"
            aria-label="To (UTC)"
            className="min-w-36 flex-1 sm:max-w-40"
            min={range.from}
            value={range.to ?? ""}
            onChange={({ target }) => onRange(endingAt(range, target.value))}
          />
        </>
      )}
    </>
  );
}
