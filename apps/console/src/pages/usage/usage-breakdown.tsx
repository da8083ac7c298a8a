import { useQuery } from "@tanstack/react-query";
import type { UsageSearch } from "../../searches.rules.ts";
import type { ChartRange } from "../../ui/chart/range.rules.ts";
import { seriesName } from "../../ui/chart/series.rules.ts";
import { seriesQuery } from "../../ui/chart/series-query.ts";
import { count, money } from "../../ui/format.ts";
import { Empty, Loading } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { ModelName } from "../predictions/model-name.tsx";
import { ShareBar } from "./share-bar.tsx";
import { type Stack, stackLabels, type UsageGroup, usageGroups, usageSeries } from "./usage-series.rules.ts";

/** The groups of the stacked charts with their totals. Sends no request of its own. */
export function UsageBreakdown({ search, range }: { search: UsageSearch; range: ChartRange }) {
  const requests = useQuery(seriesQuery(usageSeries("requests", search), range));
  const spend = useQuery(seriesQuery(usageSeries("spend", search), range));
  const errors = useQuery(seriesQuery(usageSeries("errors", search), range));
  const by: Stack = search.by ?? "model";
  // The charts show the failure.
  if (requests.isError || spend.isError || errors.isError) return null;
  return (
    <Panel title={`By ${by === "key" ? "API key" : by}`} flush>
      {requests.data && spend.data && errors.data ? (
        <Table
          label={`Usage by ${by}`}
          rows={usageGroups(requests.data, spend.data, errors.data)}
          keyOf={({ id }) => id}
          empty={<Empty title="No predictions in this range">Choose another range or remove a filter.</Empty>}
          columns={[
            { head: stackLabels[by], cell: (group) => <GroupName group={group} by={by} /> },
            { head: "Share", wide: true, cell: ({ share }) => <ShareBar percent={share} /> },
            { head: "Requests", align: "right", cell: (group) => known(group.requests, count) },
            { head: "Errors", align: "right", wide: true, cell: (group) => known(group.errors, count) },
            { head: "Spent", align: "right", cell: (group) => known(group.spent, money) },
          ]}
        />
      ) : (
        <Loading />
      )}
    </Panel>
  );
}

const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);

function GroupName({ group: { name }, by }: { group: UsageGroup; by: Stack }) {
  const shown = seriesName({ group_by: by }, name);
  return by === "model" ? <ModelName name={shown} /> : shown;
}
