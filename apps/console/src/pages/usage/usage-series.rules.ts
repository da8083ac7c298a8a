import type { SeriesQuery, SeriesRecord } from "@gantry/sdk";
import type { UsageSearch } from "../../searches.rules.ts";

type Metric = Extract<SeriesQuery["metric"], "requests" | "spend" | "errors" | "latency" | "tokens">;
type Of = Omit<SeriesQuery, "from_date" | "to_date" | "step">;

export const stackLabels = { model: "Model", key: "API key", mode: "Mode", status: "Status" } as const;
export type Stack = keyof typeof stackLabels;

/** Latency and tokens have parts of their own, so they are not stacked. */
const isStacked: Readonly<Record<Metric, boolean>> = {
  requests: true,
  spend: true,
  errors: true,
  latency: false,
  tokens: false,
};

/** What a chart of the page asks for. */
export function usageSeries(metric: Metric, { model, key, mode, by }: UsageSearch): Of {
  return {
    metric,
    ...(isStacked[metric] && { group_by: by ?? "model" }),
    ...(model && { model }),
    ...(key && { key_id: key }),
    ...(mode && { mode }),
  };
}

export interface UsageGroup {
  /** Unique in the table. */
  id: string;
  name: string;
  requests: number | null;
  errors: number | null;
  spent: number | null;
  /** Of everything spent, in percent; of all requests if nothing was spent. */
  share: number;
}

type Stacked = Pick<SeriesRecord, "series">;

/** One row for each group of the stacked charts, most expensive first; the rest, named `other`, last. */
export function usageGroups(requests: Stacked, spend: Stacked, errors: Stacked): UsageGroup[] {
  const groups = new Map<string, Omit<UsageGroup, "share">>();
  const add = (figure: "requests" | "spent" | "errors", { series }: Stacked) => {
    for (const { name, id, total } of series) {
      const key = id ?? name;
      // A group without figures of one kind is not in its chart.
      const group = groups.get(key) ?? { id: key, name, requests: 0, errors: 0, spent: 0 };
      groups.set(key, { ...group, [figure]: total });
    }
  };
  add("requests", requests);
  add("spent", spend);
  add("errors", errors);
  const all = [...groups.values()];
  const sum = (figure: "requests" | "spent") => all.reduce((total, group) => total + (group[figure] ?? 0), 0);
  const shared = sum("spent") > 0 ? "spent" : "requests";
  const total = sum(shared);
  return all
    .map((group) => ({ ...group, share: total === 0 ? 0 : (100 * (group[shared] ?? 0)) / total }))
    .sort((a, b) => Number(a.name === "other") - Number(b.name === "other") || b.share - a.share || order(b, a));
}

const order = (a: Omit<UsageGroup, "share">, b: Omit<UsageGroup, "share">): number =>
  (a.requests ?? 0) - (b.requests ?? 0);

/** In percent; undefined if unknown. */
export function errorRate(errors: number | null | undefined, requests: number | null | undefined): number | undefined {
  if (typeof errors !== "number" || typeof requests !== "number") return undefined;
  return requests === 0 ? 0 : (100 * errors) / requests;
}

export const percent = (value: number): string => {
  if (value > 0 && value < 0.1) return "<0.1%";
  return `${value.toFixed(value === 0 || value >= 10 ? 0 : 1)}%`;
};
