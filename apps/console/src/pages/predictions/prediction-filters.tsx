import { useQuery } from "@tanstack/react-query";
import type { PredictionsSearch } from "../../searches.rules.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { SearchInput } from "../../ui/search-input.tsx";
import { agentChoicesQuery, keyChoicesQuery, modelChoicesQuery } from "./filter-options.ts";
import { modeChoices, statusChoices } from "./prediction-labels.ts";
import { TimeFilter } from "./time-filter.tsx";

/** Undefined removes a filter from the address. */
type Change = { [Name in keyof PredictionsSearch]?: PredictionsSearch[Name] | undefined };

interface PredictionFiltersProps {
  search: PredictionsSearch;
  onChange(change: Change): void;
  onClear(): void;
}

export function PredictionFilters({ search, onChange, onClear }: PredictionFiltersProps) {
  // A key limited to models sees only what it called itself.
  const seesAll = mayOpen(useSession().key, "unconfined keys");
  const models = useQuery(modelChoicesQuery).data ?? [];
  const keys = useQuery({ ...keyChoicesQuery, enabled: seesAll }).data ?? [];
  const agents = useQuery({ ...agentChoicesQuery, enabled: seesAll }).data ?? [];
  const { q, model, status, mode, key, agent, run } = search;
  return (
    <search className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-[minmax(0,1.6fr)_repeat(6,minmax(0,1fr))]">
      <div className="col-span-full lg:col-span-1">
        <SearchInput label="Search by id" q={q} onQ={(wanted) => onChange({ q: wanted })} />
      </div>
      <ChoiceFilter
        label="Model"
        all="All models"
        choices={models}
        value={model}
        onValue={(wanted) => onChange({ model: wanted })}
      />
      <ChoiceFilter
        label="Status"
        all="All statuses"
        choices={statusChoices}
        value={status}
        onValue={(wanted) => onChange({ status: wanted })}
      />
      <ChoiceFilter
        label="Mode"
        all="All modes"
        choices={modeChoices}
        value={mode}
        onValue={(wanted) => onChange({ mode: wanted })}
      />
      {seesAll && (
        <ChoiceFilter
          label="API key"
          all="All keys"
          choices={keys}
          value={key}
          onValue={(wanted) => onChange({ key: wanted })}
        />
      )}
      {seesAll && (
        <ChoiceFilter
          label="Agent"
          all="All agents"
          choices={agents}
          value={agent}
          onValue={(wanted) => onChange({ agent: wanted })}
        />
      )}
      <TimeFilter value={search} onValue={({ range, from, to }) => onChange({ range, from, to, before: undefined })} />
      {run !== undefined && (
        <p className="col-span-full flex items-center gap-2 text-muted">
          <span>
            Only model calls of run <code className="break-all text-ink">{run}</code>
          </span>
          <Button kind="quiet" onClick={() => onChange({ run: undefined })}>
            Show all
          </Button>
        </p>
      )}
      {isFiltered(search) && (
        <div className="col-span-full">
          <Button kind="quiet" className="-ml-3" onClick={onClear}>
            Clear filters
          </Button>
        </div>
      )}
    </search>
  );
}

/** The page is not a filter. */
export const isFiltered = ({ page: _page, ...filters }: PredictionsSearch): boolean =>
  Object.values(filters).some((value) => value !== undefined);
