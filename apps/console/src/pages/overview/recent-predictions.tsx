import type { PredictionSummary } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Status } from "../../ui/status.tsx";
import { Table } from "../../ui/table.tsx";
import { titleOf } from "../predictions/prediction-summary.rules.ts";

export function RecentPredictions({ rows }: { rows: readonly PredictionSummary[] }) {
  return (
    <Table
      label="Recent predictions"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Prediction",
          fill: true,
          cell: (row) => (
            <span className="flex w-full min-w-0 flex-col md:w-64 xl:w-48 2xl:w-56">
              <RowLink to="/predictions/$id" params={{ id: row.id }} className="truncate">
                {titleOf(row)}
              </RowLink>
              <span className="truncate text-muted text-xs">
                {row.model_name} · <Moment at={row.created_at} />
              </span>
            </span>
          ),
        },
        { head: "Status", cell: ({ status, status_code }) => <Status status={status} code={status_code} /> },
        {
          head: "Cost",
          align: "right",
          wide: true,
          cell: ({ price }) => (price === null ? <span className="text-muted">–</span> : money(price)),
        },
      ]}
    />
  );
}
