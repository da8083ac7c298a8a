import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import type { RunsSearch } from "../../searches.rules.ts";
import { Button } from "../../ui/button.tsx";
import { type Choice, ChoiceFilter } from "../../ui/choice-filter.tsx";
import { SearchInput } from "../../ui/search-input.tsx";
import { ownAgentsQuery } from "../agents/agent-queries.ts";
import { needsAnswer } from "./run-status.tsx";
import { WhenFilter } from "./when-filter.tsx";

const statuses: readonly Choice[] = [
  { value: "asking", label: needsAnswer },
  { value: "pending", label: "Waiting" },
  { value: "running", label: "Running" },
  { value: "done", label: "Succeeded" },
  { value: "error", label: "Failed or cancelled" },
];

type Filters = Omit<RunsSearch, "page">;

interface RunsFiltersProps {
  filters: Filters;
  /** `replace`: typing does not fill the history. */
  onFilters(filters: Filters, how?: { replace: boolean }): void;
}

export function RunsFilters({ filters, onFilters }: RunsFiltersProps) {
  const { status, agent, thread, q, from, to } = filters;
  const agents = useQuery(ownAgentsQuery).data ?? [];
  const change = (changes: { [Name in keyof Filters]?: Filters[Name] | undefined }, how?: { replace: boolean }) => {
    const all = Object.entries({ ...filters, ...changes }).filter(([, value]) => value !== undefined && value !== "");
    onFilters(Object.fromEntries(all), how);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="min-w-36 flex-1 sm:max-w-48">
        <ChoiceFilter
          label="Status"
          all="All statuses"
          choices={statuses}
          value={status}
          onValue={(wanted) => change({ status: wanted })}
        />
      </div>
      <div className="min-w-36 flex-1 sm:max-w-56">
        <ChoiceFilter
          label="Agent"
          all="All agents"
          choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
          value={agent}
          onValue={(wanted) => change({ agent: wanted })}
        />
      </div>
      <WhenFilter
        range={{ ...(from && { from }), ...(to && { to }) }}
        onRange={(range) => change({ from: range.from, to: range.to })}
      />
      <div className="min-w-44 flex-1 sm:max-w-64">
        <SearchInput label="Run id" q={q} onQ={(wanted) => change({ q: wanted }, { replace: true })} />
      </div>
      {thread && (
        <Button aria-label={`Remove the filter: thread ${thread}`} onClick={() => change({ thread: undefined })}>
          <span className="max-w-48 truncate">Thread {thread}</span> <X size={14} />
        </Button>
      )}
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" onClick={() => onFilters({})}>
          Clear filters
        </Button>
      )}
    </div>
  );
}
