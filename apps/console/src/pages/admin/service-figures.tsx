import type { OverviewRecord, Turnover } from "@gantry/sdk";
import { Figure } from "../../ui/figure.tsx";
import { count, money } from "../../ui/format.ts";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";

/** For example "1 admin, 2 disabled". Zeros are left out. */
const some = (parts: readonly [number, string][]): string =>
  parts
    .filter(([n]) => n > 0)
    .map(([n, label]) => `${count(n)} ${label}`)
    .join(", ");

export function ServiceFigures({
  overview: { users, models, predictions, nodes, today },
}: {
  overview: OverviewRecord;
}) {
  return (
    <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      <Figure
        name="Running"
        value={count(predictions.running)}
        note={`${count(predictions.waiting)} queued, ${count(nodes)} ${nodes === 1 ? "server" : "servers"}`}
      />
      <Figure
        name="Users"
        value={count(users.total)}
        note={some([
          [users.admins, users.admins === 1 ? "admin" : "admins"],
          [users.disabled, "disabled"],
          [users.below_zero, "with a negative balance"],
        ])}
      />
      <Figure
        name="Models"
        value={count(models.total)}
        note={some([
          [models.public, "public"],
          [models.private, "private"],
          [models.inactive, "inactive"],
        ])}
      />
      <Figure name="Spent today (UTC)" value={money(today.spent)} note={`${count(today.requests)} requests`} />
    </dl>
  );
}

export function SpendingPanel({ overview: { today, last_7_days } }: { overview: OverviewRecord }) {
  const rows: (Turnover & { name: string })[] = [
    { name: "Today (UTC)", ...today },
    { name: "Last 7 days", ...last_7_days },
  ];
  return (
    <Panel title="Spending" flush>
      <Table
        label="Spending"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { head: "Period", cell: ({ name }) => name },
          { head: "Requests", align: "right", cell: ({ requests }) => count(requests) },
          { head: "Paid requests", align: "right", cell: ({ paid_requests }) => count(paid_requests) },
          { head: "Spent", align: "right", cell: ({ spent }) => money(spent) },
        ]}
      />
    </Panel>
  );
}

export function TopModels({ models }: { models: OverviewRecord["top_models"] }) {
  return (
    <Panel title="Top models, last 7 days" flush>
      <Table
        label="Top models, last 7 days"
        rows={models}
        keyOf={({ model_name }) => model_name}
        columns={[
          { head: "Model", cell: ({ model_name }) => <span className="break-all">{model_name}</span> },
          { head: "Requests", align: "right", cell: ({ requests }) => count(requests) },
          { head: "Spent", align: "right", cell: ({ spent }) => money(spent) },
        ]}
        empty={<Empty title="No spending in the last 7 days" />}
      />
    </Panel>
  );
}
