import type { Expenses } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { type DayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { count, money } from "../../ui/format.ts";
import { linkClass } from "../../ui/link.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { lastPageInstead } from "../../ui/paged.rules.ts";
import { type OnPage, ToPage } from "../../ui/paged.tsx";
import { type Column, Pager, Table } from "../../ui/table.tsx";
import { ModelName } from "../predictions/model-name.tsx";
import { ShareBar } from "../usage/share-bar.tsx";
import { expensesQuery } from "./expenses-query.ts";
import { agentOf } from "./transaction.rules.ts";

type Expense = Expenses["results"][number];

interface SpendingByModelProps {
  range: DayRange;
  page: number;
  onPage: OnPage;
}

export function SpendingByModel({ range, page, onPage }: SpendingByModelProps) {
  const { username } = useSession();
  const expenses = useQuery(expensesQuery(username, momentsOf(range), page));
  return (
    <Panel title="Spending by model and agent" flush actions={expenses.data && <Total expenses={expenses.data} />}>
      <Loaded query={expenses}>
        {({ results, total_spent, total_pages, total_models }) => {
          const instead = lastPageInstead({ results, page, total_pages });
          if (instead !== undefined) return <ToPage page={instead} onPage={onPage} />;
          return (
            <>
              <Table
                label="Spending by model and agent"
                rows={results}
                keyOf={({ model_name }) => model_name}
                columns={columnsFor(total_spent)}
                empty={<Empty title="No spending in this range">Failed predictions are free.</Empty>}
              />
              <Pager page={page} totalPages={total_pages} total={total_models} onPage={onPage} />
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Total({ expenses: { total_spent, total_count } }: { expenses: Expenses }) {
  return (
    <span className="text-muted">
      <strong className="text-ink tabular-nums">{money(total_spent)}</strong> for {count(total_count)}{" "}
      {total_count === 1 ? "request" : "requests"}
    </span>
  );
}

const columnsFor = (total: number): readonly Column<Expense>[] => [
  { head: "Model or agent", cell: ({ model_name }) => <Spender name={model_name} /> },
  {
    head: "Share",
    wide: true,
    cell: ({ sub_total_spent }) => <ShareBar percent={total === 0 ? 0 : (100 * sub_total_spent) / total} />,
  },
  { head: "Requests", align: "right", wide: true, cell: ({ request_count }) => count(request_count) },
  { head: "Average", align: "right", wide: true, cell: ({ avg_per_request }) => money(avg_per_request) },
  { head: "Spent", align: "right", cell: ({ sub_total_spent }) => money(sub_total_spent) },
];

/** Paid agent runs are listed beside models. */
function Spender({ name }: { name: string }) {
  const agent = agentOf(name);
  if (!agent) return <ModelName name={name} />;
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Link to="/marketplace/$creator/$slug" params={agent} className={`break-all ${linkClass}`}>
        {agent.label}
      </Link>
      <Badge>Agent</Badge>
    </span>
  );
}
