import type { UsageRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { dayRange, momentsOf } from "../../ui/day-range.rules.ts";
import { DayRangePicker } from "../../ui/day-range-picker.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { CsvButton } from "./csv-button.tsx";
import { PredictionDialog } from "./prediction-dialog.tsx";
import { UsageTable } from "./usage-table.tsx";
import { UsageTotals } from "./usage-totals.tsx";

const route = getRouteApi("/app/usage");

export function UsagePage() {
  const { page = 1, from, to, prediction, at } = route.useSearch();
  const navigate = route.useNavigate();
  const range = dayRange({ from, to });
  const { first: from_date, last: to_date } = momentsOf(range);
  const usage = useQuery({
    queryKey: ["usage", "page", { page, from, to }],
    queryFn: ({ signal }) => api.account.usage({ page, from_date, to_date, signal }),
    placeholderData: keepPreviousData,
  });
  const open = ({ request_id, created_at }: UsageRecord) =>
    void navigate({
      search: (now) => ({ ...now, prediction: request_id, at: created_at }),
      resetScroll: false,
    });
  const isFiltered = from !== undefined || to !== undefined;
  return (
    <Page
      title="Usage"
      lead="Your finished predictions and their cost, newest first."
      actions={<CsvButton range={range} />}
    >
      <DayRangePicker range={range} onRange={(wanted) => void navigate({ search: wanted, replace: true })} />
      {usage.data && <UsageTotals range={range} predictions={usage.data.total_count} />}
      <Panel flush>
        <Paged
          query={usage}
          onPage={(wanted, how) => void navigate({ search: (before) => ({ ...before, page: wanted }), ...how })}
          empty={
            isFiltered ? (
              <Empty title="No predictions in this range">Choose another range.</Empty>
            ) : (
              <Empty title="No predictions yet">
                <Link to="/models" className="text-accent hover:underline">
                  Choose a model
                </Link>{" "}
                and try it in the browser.
              </Empty>
            )
          }
        >
          {(rows) => <UsageTable rows={rows} onOpen={open} />}
        </Paged>
      </Panel>
      {prediction !== undefined && (
        <PredictionDialog
          key={prediction}
          id={prediction}
          at={at}
          row={usage.data?.results.find(({ request_id }) => request_id === prediction)}
          onClose={() =>
            void navigate({ search: ({ prediction: _shown, at: _then, ...list }) => list, resetScroll: false })
          }
        />
      )}
    </Page>
  );
}
