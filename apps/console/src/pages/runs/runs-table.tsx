import type { RunRecord } from "@gantry/sdk";
import { count, money, seconds } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { RunningClock } from "../../ui/running-clock.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { withoutMessages } from "./run-input.rules.ts";
import { isOver, RunStatusBadge } from "./run-status.tsx";

const sourceLabels = { schedule: "Scheduled", trigger: "Triggered" };

interface RunsTableProps {
  runs: readonly RunRecord[];
  /** Rows then show the run id instead of the agent's name. */
  ofOneAgent?: boolean;
}

export function RunsTable({ runs, ofOneAgent = false }: RunsTableProps) {
  const columns: Column<RunRecord>[] = [
    {
      head: ofOneAgent ? "Run" : "Agent",
      cell: ({ id, agent_name, input, source, created_at }) => (
        <span className="flex min-w-0 max-w-44 flex-col sm:max-w-72">
          <RowLink to="/runs/$runId" params={{ runId: id }} className="truncate">
            {ofOneAgent ? id : agent_name}
          </RowLink>
          <span className="truncate text-muted text-xs">
            {source && `${sourceLabels[source.type]} · `}
            {input ? summaryOf(input) : "Run by another user"}
          </span>
          <span className="text-muted text-xs md:hidden">
            <Moment at={created_at} />
          </span>
        </span>
      ),
    },
    { head: "Status", cell: (run) => <RunStatusBadge run={run} /> },
    { head: "Duration", align: "right", wide: true, cell: (run) => <Duration run={run} /> },
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

/** Time spent working; a wait for an answer would hide it. */
function Duration({ run }: { run: RunRecord }) {
  const { worked_ms, waited_ms, created_at } = run;
  if (!isOver(run)) return <RunningClock since={created_at} />;
  const waited =
    waited_ms >= 1_000 ? `Worked ${seconds(worked_ms / 1000)}, waited ${seconds(waited_ms / 1000)}` : undefined;
  return <span title={waited}>{seconds(worked_ms / 1000)}</span>;
}

function summaryOf(input: Record<string, unknown>): string {
  const values = Object.values(withoutMessages(input)).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return values.length === 0 ? "No input" : values.join(", ").slice(0, 120);
}
