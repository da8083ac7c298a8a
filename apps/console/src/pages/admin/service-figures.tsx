import type { OverviewRecord, Turnover } from "@gantry/sdk";
import { Figure } from "../../ui/figure.tsx";
import { count, money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
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
          [users.teams, users.teams === 1 ? "team" : "teams"],
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
      <Figure
        name="Spent today (UTC)"
        value={money(today.spent)}
        note={`${count(today.requests)} ${today.requests === 1 ? "request" : "requests"}`}
      />
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
          { head: "Model", cell: ({ model_name }) => <ModelName name={model_name} /> },
          { head: "Requests", align: "right", cell: ({ requests }) => count(requests) },
          { head: "Spent", align: "right", cell: ({ spent }) => money(spent) },
        ]}
        empty={<Empty title="No spending in the last 7 days" />}
      />
    </Panel>
  );
}

/** Runs of agents that a user bought are listed under agents/creator/slug. */
function ModelName({ name }: { name: string }) {
  const [first = "", second = "", third] = name.split("/");
  const className = "break-all";
  return third === undefined ? (
    <RowLink to="/models/$owner/$name" params={{ owner: first, name: second }} className={className}>
      {name}
    </RowLink>
  ) : (
    <RowLink to="/marketplace/$creator/$slug" params={{ creator: second, slug: third }} className={className}>
      {name}
    </RowLink>
  );
}

export function KeptPanel({ keeps }: { keeps: OverviewRecord["keeps"] }) {
  const days = (n: number) => `${count(n)} ${n === 1 ? "day" : "days"}`;
  const rows: [string, string][] = [
    ["Inputs of predictions", keeps.inputs ? days(keeps.result_days) : "Not kept"],
    ["Results, runs and output files", days(keeps.result_days)],
    ["Single usage rows", days(keeps.usage_days)],
    ["Totals and ledger", "Forever"],
    ["Webhook deliveries", days(keeps.delivery_days)],
    ["Samples of the load", "30 days"],
  ];
  return (
    <Panel title="Data retention">
      <dl className="flex flex-col gap-2">
        {rows.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-4">
            <dt className="text-muted">{name}</dt>
            <dd className="text-right tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 text-muted text-xs">
        {keeps.inputs
          ? "Keys, models and single requests can opt out of keeping inputs. To keep none, set GANTRY_KEEP_INPUTS=0."
          : "GANTRY_KEEP_INPUTS=0 is set."}
      </p>
    </Panel>
  );
}
