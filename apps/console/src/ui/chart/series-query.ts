import type { SeriesQuery } from "@gantry/sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { type ChartRange, rangeQuery } from "./range.rules.ts";

/** What a chart asks for, without its times. */
export type SeriesOf = Omit<SeriesQuery, "from_date" | "to_date" | "step">;

const refreshMs = 30_000;

/** One request for a chart. The times are computed when it is sent, so that a range up to now moves with the clock. */
export function seriesQuery(of: SeriesOf, range: ChartRange) {
  const isFine = of.metric !== "spend" && of.metric !== "requests" && of.metric !== "errors";
  return queryOptions({
    queryKey: ["series", { ...of, range }],
    queryFn: ({ signal }) => api.series({ ...of, ...rangeQuery(range, { now: Date.now(), isFine }), signal }),
    refetchInterval: refreshMs,
    staleTime: refreshMs / 2,
    // Another range replaces the chart when it has arrived, without a blank in between.
    placeholderData: keepPreviousData,
  });
}
