import { useQuery } from "@tanstack/react-query";
import type { UsageSearch } from "../../searches.rules.ts";
import type { ChartRange } from "../../ui/chart/range.rules.ts";
import { seriesQuery } from "../../ui/chart/series-query.ts";
import { Figure } from "../../ui/figure.tsx";
import { count, money, seconds } from "../../ui/format.ts";
import { errorRate, percent, usageSeries } from "./usage-series.rules.ts";

/** Totals of the range, from the requests of the charts. */
export function UsageFigures({ search, range }: { search: UsageSearch; range: ChartRange }) {
  const requests = useQuery(seriesQuery(usageSeries("requests", search), range)).data;
  const spend = useQuery(seriesQuery(usageSeries("spend", search), range)).data;
  const errors = useQuery(seriesQuery(usageSeries("errors", search), range)).data;
  const latency = useQuery(seriesQuery(usageSeries("latency", search), range)).data;
  const tokens = useQuery(seriesQuery(usageSeries("tokens", search), range)).data;
  const rate = errorRate(errors?.total, requests?.total);
  const part = (from: typeof tokens, name: string) => from?.series.find((one) => one.name === name)?.total ?? null;
  const [p50, p95] = [part(latency, "p50"), part(latency, "p95")];
  const [input, output] = [part(tokens, "input"), part(tokens, "output")];
  return (
    <dl className="grid grid-cols-2 gap-4 lg:grid-cols-5">
      <Figure name="Requests" value={shown(requests, requests?.total, count)} />
      <Figure name="Spent" value={shown(spend, spend?.total, money)} />
      <Figure
        name="Errors"
        value={shown(errors, errors?.total, count)}
        note={rate === undefined ? undefined : `${percent(rate)} of requests`}
      />
      <Figure
        name="Latency, p95"
        value={shown(latency, p95, seconds)}
        note={p50 === null ? undefined : `p50 ${seconds(p50)}`}
      />
      <Figure
        name="Tokens"
        value={shown(tokens, input === null && output === null ? null : (input ?? 0) + (output ?? 0), count)}
        note={input === null && output === null ? undefined : `${count(input ?? 0)} in, ${count(output ?? 0)} out`}
      />
    </dl>
  );
}

/** "…" while it is loaded, "–" if it is unknown. */
function shown(data: unknown, value: number | null | undefined, format: (value: number) => string): string {
  if (data === undefined) return "…";
  return value === null || value === undefined ? "–" : format(value);
}
