import type { RunRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { count, money, seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAgentName } from "../agents/agent-queries.ts";
import { RunStatusBadge } from "./run-status.tsx";

interface RunsTableProps {
  runs: readonly RunRecord[];
  /** Rows then show the run id instead of the agent's name. */
  ofOneAgent?: boolean;
}

export function RunsTable({ runs, ofOneAgent = false }: RunsTableProps) {
  const nameOf = useAgentName();
  const columns: Column<RunRecord>[] = [
    {
      head: ofOneAgent ? "Run" : "Agent",
      cell: ({ id, agent_id, input, created_at }) => (
        <span className="flex min-w-0 max-w-44 flex-col sm:max-w-72">
          <Link
            to="/runs/$runId"
            params={{ runId: id }}
            className="truncate font-medium hover:text-accent hover:underline"
          >
            {ofOneAgent ? id : nameOf(agent_id)}
          </Link>
          <span className="truncate text-muted text-xs">{input ? summaryOf(input) : "Run by another user"}</span>
          <span className="text-muted text-xs md:hidden">
            <Moment at={created_at} />
          </span>
        </span>
      ),
    },
    { head: "Status", cell: (run) => <RunStatusBadge run={run} /> },
    {
      head: "Duration",
      align: "right",
      wide: true,
      cell: ({ duration_ms }) => (duration_ms === undefined ? "" : seconds(duration_ms / 1000)),
    },
    {
      head: "Tokens",
      align: "right",
      wide: true,
      cell: ({ usage }) => (usage ? count(usage.input_tokens + usage.output_tokens) : ""),
    },
    {
      head: "Cost",
      align: "right",
      wide: true,
      cell: ({ cost, earned }) =>
        earned === undefined ? money(cost ?? 0) : <span className="text-good">Earned {money(earned)}</span>,
    },
    { head: "Started", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
  ];
  return <Table label="Runs" rows={runs} keyOf={({ id }) => id} columns={columns} />;
}

function summaryOf(input: Record<string, unknown>): string {
  const values = Object.values(input).map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return values.length === 0 ? "No input" : values.join(", ").slice(0, 120);
}
