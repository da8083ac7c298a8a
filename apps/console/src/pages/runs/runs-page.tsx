import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { RunsSearch } from "../../searches.rules.ts";
import { momentsOf } from "../../ui/day-range.rules.ts";
import { TextLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { PendingApprovals } from "../approvals/pending-approvals.tsx";
import { runsQuery } from "./run-queries.ts";
import { RunsFilters } from "./runs-filters.tsx";
import { RunsTable } from "./runs-table.tsx";

export function RunsPage() {
  const { page = 1, ...filters } = useSearch({ from: "/app/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const list = useQuery(runsQuery(page, asked(filters)));
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title="Runs" lead="Past and current runs of your agents, newest first.">
      {filters.status !== "asking" && <PendingApprovals />}
      <RunsFilters filters={filters} onFilters={(next, how) => void navigate({ search: next, ...how })} />
      <Panel flush>
        <Paged
          query={list}
          onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
          empty={
            isFiltered ? (
              <Empty title="No runs match these filters" />
            ) : (
              <Empty title="No runs yet">
                Run one of <TextLink to="/agents">your agents</TextLink>, or one from the{" "}
                <TextLink to="/marketplace">marketplace</TextLink>.
              </Empty>
            )
          }
        >
          {(runs) => <RunsTable runs={runs} />}
        </Paged>
      </Panel>
    </Page>
  );
}

/** The filters in the words of the API. */
function asked({ status, agent, thread, q, ...range }: Omit<RunsSearch, "page">) {
  const { first, last } = momentsOf(range);
  return {
    ...(status === "asking" ? { phase: "awaiting_confirmation" as const } : status && { status }),
    // A thread belongs to one agent.
    ...(thread ? { thread_id: thread } : agent && { agent_id: agent, mine: true }),
    ...(q && { q }),
    ...(first && { from_date: first }),
    ...(last && { to_date: last }),
  };
}
