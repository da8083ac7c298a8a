import type { InboxConfirmation } from "@gantry/sdk";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { subAgentOf } from "./approvals.rules.ts";

const columns: Column<InboxConfirmation>[] = [
  {
    head: "Tool",
    cell: ({ tool, root_run_id, root_agent, arguments: given, resolved_at, created_at }) => (
      <span className="flex min-w-0 max-w-64 flex-col sm:max-w-96">
        <RowLink to="/runs/$runId" params={{ runId: root_run_id }} className="truncate">
          {tool}
        </RowLink>
        <code className="truncate text-muted text-xs">{JSON.stringify(given)}</code>
        <span className="flex gap-1 text-muted text-xs md:hidden">
          <span className="truncate">{root_agent.name}</span>·
          <Moment at={resolved_at ?? created_at} />
        </span>
      </span>
    ),
  },
  {
    head: "Agent",
    wide: true,
    cell: (asked) => (
      <span className="flex min-w-0 max-w-40 flex-col sm:max-w-56">
        <span className="truncate">{asked.root_agent.name}</span>
        {subAgentOf(asked) && <span className="truncate text-muted text-xs">Sub-agent {subAgentOf(asked)}</span>}
      </span>
    ),
  },
  {
    head: "Reason",
    wide: true,
    cell: ({ reason }) => <span className="line-clamp-2 break-words">{reason ?? ""}</span>,
  },
  {
    head: "Answered",
    align: "right",
    wide: true,
    cell: ({ resolved_at, created_at }) => <Moment at={resolved_at ?? created_at} />,
  },
];

export function AnsweredTable({ rows }: { rows: readonly InboxConfirmation[] }) {
  return <Table label="Answered tool calls" rows={rows} keyOf={({ id }) => id} columns={columns} />;
}
