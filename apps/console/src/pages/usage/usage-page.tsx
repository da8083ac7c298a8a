import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { chosenRange } from "../../ui/chart/range.rules.ts";
import { SeriesPanel } from "../../ui/chart/series-panel.tsx";
import { seriesQuery } from "../../ui/chart/series-query.ts";
import { Page } from "../../ui/page.tsx";
import { CsvButton } from "./csv-button.tsx";
import { csvRange } from "./csv-name.rules.ts";
import { UsageBreakdown } from "./usage-breakdown.tsx";
import { UsageFigures } from "./usage-figures.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { usageSeries } from "./usage-series.rules.ts";

const route = getRouteApi("/app/usage");

export function UsagePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const range = chosenRange(search, "7d");
  const { data: requests } = useQuery(seriesQuery(usageSeries("requests", search), range));
  const { model, key, mode } = search;
  return (
    <Page
      title="Usage"
      lead="Requests, cost, errors, latency and tokens over time, in UTC."
      actions={
        <>
          <CsvButton range={requests && csvRange(requests)} />
          <Link
            to="/predictions"
            search={{ ...(model && { model }), ...(key && { key }), ...(mode && { mode }), ...range }}
            className={buttonClass()}
          >
            <ScrollText size={14} aria-hidden /> View predictions
          </Link>
        </>
      }
    >
      <UsageFilters
        search={search}
        range={range}
        onChange={(change) =>
          void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
        }
      />
      <UsageFigures search={search} range={range} />
      <div className="grid gap-5 lg:grid-cols-2">
        <SeriesPanel title="Requests" of={usageSeries("requests", search)} range={range} />
        <SeriesPanel title="Spending" of={usageSeries("spend", search)} range={range} />
        <SeriesPanel title="Errors" of={usageSeries("errors", search)} range={range} empty="No errors in this range" />
        <SeriesPanel
          title="Latency"
          of={usageSeries("latency", search)}
          range={range}
          note="Of successful predictions, without the time in the queue."
        />
        <SeriesPanel className="lg:col-span-2" title="Tokens" of={usageSeries("tokens", search)} range={range} />
      </div>
      <UsageBreakdown search={search} range={range} />
    </Page>
  );
}
