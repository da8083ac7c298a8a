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
  ["pending", "Not begun"],
  ["running", "Under way"],
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
    <Page title="Runs" lead="What your agents did and are doing, newest first." actions={filter}>
      <Waiting />
      <Panel flush>
        <Paged
          query={list}
          onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
          empty={
            status ? (
              <Empty title="No such runs" />
            ) : (
              <Empty title="Nothing has run yet">
                Start a run of one of{" "}
                <Link to="/agents" className="text-accent hover:underline">
                  your agents
                </Link>
                , or of one in the{" "}
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

const asks = ({ phase }: RunRecord) => phase === "awaiting_confirmation";

/** Runs that ask something, on whichever page of the list they stand. The service has no list of them alone. */
function Waiting() {
  const nameOf = useAgentName();
  const live = useQuery({
    queryKey: ["runs", "live"],
    queryFn: ({ signal }) => api.runs.list({ status: "running", limit: 100, signal }),
    refetchInterval: 5_000,
  });
  const waiting = live.data?.runs.filter(asks) ?? [];
  if (waiting.length === 0) return null;
  return (
    <Notice
      tone="warn"
      title={waiting.length === 1 ? "A run waits for your answer" : `${waiting.length} runs wait for your answer`}
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
