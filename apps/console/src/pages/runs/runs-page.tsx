import type { RunRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Select } from "../../ui/field.tsx";
import { Empty, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { useAgentName } from "../agents/agent-queries.ts";
import { runsQuery } from "./run-queries.ts";
import { RunsTable } from "./runs-table.tsx";

const filters = [
  ["", "All runs"],
  ["pending", "Queued"],
  ["running", "Running"],
  ["done", "Done"],
  ["error", "Failed or cancelled"],
] as const;

export function RunsPage() {
  const { page = 1, status } = useSearch({ from: "/app/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const list = useQuery(runsQuery(page, { status }));
  const filter = (
    <Select
      aria-label="Status"
      className="max-w-52"
      value={status ?? ""}
      onChange={({ target: { value } }) =>
        void navigate({ search: value === "" ? {} : { status: value as NonNullable<typeof status> } })
      }
    >
      {filters.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </Select>
  );
  return (
    <Page title="Runs" lead="Past and current runs of your agents, newest first." actions={filter}>
      <NeedsApproval />
      <Panel flush>
        <Paged
          query={list}
          onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
          empty={
            status ? (
              <Empty title="No runs with this status" />
            ) : (
              <Empty title="No runs yet">
                Run one of{" "}
                <Link to="/agents" className="text-accent hover:underline">
                  your agents
                </Link>
                , or one from the{" "}
                <Link to="/marketplace" className="text-accent hover:underline">
                  marketplace
                </Link>
                .
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

const needsApproval = ({ phase }: RunRecord) => phase === "awaiting_confirmation";

/** Covers all pages of the list. The API has no filter for these runs. */
function NeedsApproval() {
  const nameOf = useAgentName();
  const live = useQuery({
    queryKey: ["runs", "live"],
    queryFn: ({ signal }) => api.runs.list({ status: "running", limit: 100, signal }),
    refetchInterval: 5_000,
  });
  const waiting = live.data?.runs.filter(needsApproval) ?? [];
  if (waiting.length === 0) return null;
  return (
    <Notice
      tone="warn"
      title={waiting.length === 1 ? "1 run needs your approval" : `${waiting.length} runs need your approval`}
    >
      <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1">
        {waiting.map(({ id, agent_id }) => (
          <li key={id}>
            <Link to="/runs/$runId" params={{ runId: id }} className="font-medium underline hover:text-accent">
              {nameOf(agent_id)}
            </Link>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
