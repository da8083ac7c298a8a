import type { RunRecord } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Table } from "../../ui/table.tsx";
import { RunStatusBadge } from "../runs/run-status.tsx";

export function RecentRuns({ rows }: { rows: readonly RunRecord[] }) {
  return (
    <Table
      label="Recent runs"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Agent",
          fill: true,
          cell: ({ id, agent_name, created_at }) => (
            <span className="flex w-full min-w-0 flex-col md:w-64 xl:w-48 2xl:w-56">
              <RowLink to="/runs/$runId" params={{ runId: id }} className="truncate">
                {agent_name}
              </RowLink>
              <span className="truncate text-muted text-xs">
                <Moment at={created_at} />
              </span>
            </span>
          ),
        },
        { head: "Status", cell: (run) => <RunStatusBadge run={run} /> },
        { head: "Cost", align: "right", wide: true, cell: ({ cost }) => money(cost ?? 0) },
      ]}
    />
  );
}
