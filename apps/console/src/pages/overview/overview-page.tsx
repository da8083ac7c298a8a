import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/me-query.ts";
import { KeyLimitNotice } from "../../shell/key-limit-notice.tsx";
import { useSession } from "../../shell/session.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Bars } from "../../ui/bars.tsx";
import { Figure } from "../../ui/figure.tsx";
import { money, seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { expensesQuery } from "../money/expenses-query.ts";
import { lastDays } from "./last-days.rules.ts";

const shownDays = 14;

export function OverviewPage() {
  const me = useQuery(meQuery);
  return (
    <Page title="Overview" lead="Balance, spending and recent activity.">
      <KeyLimitNotice />
      <Loaded query={me}>
        {({ balance, reserved, plan }) => (
          <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
            <Figure name="Balance" value={money(balance)} />
            <Figure name="On hold" value={money(reserved)} />
            <Figure name="Plan" value={plan} />
            <SpentToday />
          </dl>
        )}
      </Loaded>
      <div className="grid gap-5 lg:grid-cols-5">
        <Spending />
        <Recent />
      </div>
    </Page>
  );
}

function useSpentByDay() {
  const { username } = useSession();
  const days = lastDays(shownDays, new Date());
  const spent = useQueries({ queries: days.map((day) => expensesQuery(username, day)) });
  return days.map(({ day, title }, n) => ({ key: day, title, value: spent[n]?.data?.total_spent }));
}

function SpentToday() {
  const spent = useSpentByDay().at(-1)?.value;
  return <Figure name="Spent today (UTC)" value={spent === undefined ? "…" : money(spent)} />;
}

function Spending() {
  const days = useSpentByDay();
  return (
    <Panel title={`Spending, last ${shownDays} days`} className="lg:col-span-2">
      <Bars label="Spending per day" format={money} bars={days.map(({ value = 0, ...day }) => ({ ...day, value }))} />
    </Panel>
  );
}

function Recent() {
  const usage = useQuery({
    queryKey: ["usage", "recent"],
    queryFn: ({ signal }) => api.account.usage({ page_size: 8, signal }),
    refetchInterval: 10_000,
  });
  return (
    <Panel
      title="Recent predictions"
      flush
      className="lg:col-span-3"
      actions={
        <Link to="/usage" className="text-accent hover:underline">
          View all
        </Link>
      }
    >
      <Loaded query={usage}>
        {({ results }) => (
          <Table
            label="Recent predictions"
            rows={results}
            keyOf={({ request_id }) => request_id}
            columns={[
              {
                head: "Model",
                cell: ({ model_name, request_id: prediction, created_at: at }) => (
                  <Link to="/usage" search={{ prediction, at }} className="font-medium hover:underline">
                    {model_name}
                  </Link>
                ),
              },
              { head: "Status", cell: (row) => <StatusBadge status={row.status} /> },
              { head: "Duration", align: "right", wide: true, cell: (row) => seconds(row.inference_time ?? 0) },
              { head: "Cost", align: "right", cell: (row) => money(row.price) },
              { head: "Finished", align: "right", cell: (row) => <Moment at={row.created_at} /> },
            ]}
            empty={
              <Empty title="No predictions yet">
                <Link to="/models" className="text-accent hover:underline">
                  Choose a model
                </Link>{" "}
                and try it in the browser, or{" "}
                <Link to="/models/connect" className="text-accent hover:underline">
                  connect your own
                </Link>
                .
              </Empty>
            }
          />
        )}
      </Loaded>
    </Panel>
  );
}
