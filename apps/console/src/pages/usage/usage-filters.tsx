import { useQuery } from "@tanstack/react-query";
import type { UsageSearch } from "../../searches.rules.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import type { ChartRange, RangeSearch } from "../../ui/chart/range.rules.ts";
import { RangePicker } from "../../ui/chart/range-picker.tsx";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { Select } from "../../ui/field.tsx";
import { keyChoicesQuery, modelChoicesQuery } from "../predictions/filter-options.ts";
import { modeChoices } from "../predictions/prediction-labels.ts";
import { type Stack, stackLabels } from "./usage-series.rules.ts";

/** Undefined removes a filter from the address. */
type Change = { [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined };

interface UsageFiltersProps {
  search: UsageSearch;
  range: ChartRange;
  onChange(change: Change): void;
}

export function UsageFilters({ search, range, onChange }: UsageFiltersProps) {
  const seesAll = mayOpen(useSession().key, "unconfined keys");
  const models = useQuery(modelChoicesQuery).data ?? [];
  const keys = useQuery({ ...keyChoicesQuery, enabled: seesAll }).data ?? [];
  const { model, key, mode } = search;
  const by: Stack = search.by ?? "model";
  const showRange = ({ range: name, from, to }: RangeSearch) => onChange({ range: name, from, to });
  return (
    <search className="flex flex-wrap items-center gap-2">
      <RangePicker range={range} onRange={showRange} />
      <div className="grid w-full grid-cols-2 gap-2 sm:flex sm:w-auto">
        <div className="sm:w-44">
          <ChoiceFilter
            label="Model"
            all="All models"
            choices={models}
            value={model}
            onValue={(wanted) => onChange({ model: wanted })}
          />
        </div>
        {seesAll && (
          <div className="sm:w-36">
            <ChoiceFilter
              label="API key"
              all="All keys"
              choices={keys}
              value={key}
              onValue={(wanted) => onChange({ key: wanted })}
            />
          </div>
        )}
        <div className="sm:w-32">
          <ChoiceFilter
            label="Mode"
            all="All modes"
            choices={modeChoices}
            value={mode}
            onValue={(wanted) => onChange({ mode: wanted })}
          />
        </div>
        <div className="sm:w-36">
          <Select
            aria-label="Group by"
            value={by}
            onChange={({ target }) => {
              const wanted = target.value as Stack;
              onChange({ by: wanted === "model" ? undefined : wanted });
            }}
          >
            {Object.entries(stackLabels).map(([value, label]) => (
              <option key={value} value={value}>
                By {label === "API key" ? label : label.toLowerCase()}
              </option>
            ))}
          </Select>
        </div>
      </div>
    </search>
  );
}
