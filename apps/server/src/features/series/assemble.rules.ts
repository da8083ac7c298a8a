import type { SeriesMetric, SeriesUnit } from "@gantry/wire";
import { interpolatedPercentile } from "../../kernel/latency.rules.ts";
import type { Micros1970 } from "../billing/index.ts";
import type { Steps } from "./plan.rules.ts";
import type { SampledMetric, SampledStep } from "./samples.ts";
import type { Cell, UsageRequest } from "./usage-store.ts";

export interface Line {
  name: string;
  id: string | null;
  values: (number | null)[];
  total: number | null;
}

export const unitOf = (metric: SeriesMetric): SeriesUnit =>
  metric === "spend" ? "dollars" : metric === "latency" ? "seconds" : metric === "tokens" ? "tokens" : "count";

const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;
const asDollars = (micros: number): number => micros / 1_000_000;
const asIs = (value: number): number => value;

/** A group is null if it is not among the largest. */
type Group = string | null;

/** The lines of a metric of usage, the largest first and the rest last. Rows before `knownFrom` were dropped. */
export function linesOfUsage(
  { metric, groupBy }: UsageRequest,
  { starts }: Steps,
  cells: readonly Cell[],
  knownFrom: Micros1970,
): Line[] {
  const byGroup = Map.groupBy(cells, ({ group }): Group => group);
  if (groupBy === "none" && byGroup.size === 0) byGroup.set("", []);
  const lines = [...byGroup].flatMap(([group, own]) => {
    const byTime = new Map(own.map((cell) => [cell.at, cell]));
    const name = groupBy === "none" ? metric : (group ?? "other");
    const rows = starts.map((at) => (at < knownFrom ? "unknown" : (byTime.get(at) ?? "nothing")));
    if (metric === "latency") return latencyLines(groupBy === "none" ? undefined : name, rows);
    return amountLines(name, rows, partsOf(metric, groupBy), metric === "spend" ? asDollars : asIs);
  });
  if (groupBy === "none") return lines;
  const weight = ({ name, total, values }: Line) => [name === "other" ? 1 : 0, -(total ?? sum(values))] as const;
  return lines.sort((one, other) => {
    const [[last, size], [otherLast, otherSize]] = [weight(one), weight(other)];
    return last - otherLast || size - otherSize || (one.name < other.name ? -1 : 1);
  });
}

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, one) => total + (one ?? 0), 0);

type Row = Cell | "nothing" | "unknown";
type Part = [name: string | undefined, of: (values: readonly number[]) => number];

/** Tokens without groups are three lines. Cached tokens are part of the input. */
function partsOf(metric: UsageRequest["metric"], groupBy: UsageRequest["groupBy"]): Part[] {
  const at = (n: number) => (values: readonly number[]) => values[n] ?? 0;
  if (metric !== "tokens") return [[undefined, at(0)]];
  if (groupBy !== "none") return [[undefined, (values) => at(0)(values) + at(1)(values)]];
  return [
    ["input", at(0)],
    ["output", at(1)],
    ["cached", at(2)],
  ];
}

function amountLines(
  name: string,
  rows: readonly Row[],
  parts: readonly Part[],
  shown: (value: number) => number,
): Line[] {
  return parts.map(([part, of]) => {
    const exact = rows.map((row) => {
      if (row === "unknown") return null;
      if (row === "nothing") return 0;
      return row.isUnknown ? null : of(row.values);
    });
    return {
      name: part ?? name,
      id: null,
      values: exact.map((value) => (value === null ? null : shown(value))),
      total: exact.includes(null) ? null : shown(sum(exact)),
    };
  });
}

/** Two lines without a group, the p95 with one. */
function latencyLines(group: string | undefined, rows: readonly Row[]): Line[] {
  const counts = rows.map((row) => (typeof row === "string" || row.isUnknown ? new Map() : countsOf([row])));
  const known = rows.filter((row): row is Cell => typeof row !== "string" && !row.isUnknown);
  const all = countsOf(known);
  const shares: [string, number][] =
    group === undefined
      ? [
          ["p50", 0.5],
          ["p95", 0.95],
        ]
      : [[group, 0.95]];
  return shares.map(([name, share]) => ({
    name,
    id: null,
    values: counts.map((one) => secondsOf(one, share)),
    total: secondsOf(all, share),
  }));
}

function countsOf(cells: readonly Cell[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { latencySteps, values } of cells) {
    latencySteps.forEach((step, n) => {
      counts.set(step, (counts.get(step) ?? 0) + (values[n] ?? 0));
    });
  }
  return counts;
}

function secondsOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const milliseconds = interpolatedPercentile(counts, share);
  return milliseconds === null ? null : round(milliseconds / 1000, 4);
}

/** The sum of the lines that a total may count. Null if it has no meaning, or if a part is unknown. */
export function totalOf({ metric, groupBy }: UsageRequest, lines: readonly Line[]): number | null {
  if (metric === "latency") return null;
  const counted = metric === "tokens" && groupBy === "none" ? lines.filter(({ name }) => name !== "cached") : lines;
  if (counted.some(({ total }) => total === null)) return null;
  const factor = metric === "spend" ? 1_000_000 : 1;
  return counted.reduce((all, { total }) => all + Math.round((total ?? 0) * factor), 0) / factor;
}

/** In a longer step, the average and the figure that an operator looks for: a full queue, or a missing server. */
export function linesOfSamples(
  metric: SampledMetric,
  { step, starts }: Steps,
  samples: readonly SampledStep[],
): Line[] {
  const byTime = new Map(samples.map((one) => [one.at, one]));
  const line = (name: string, of: keyof Omit<SampledStep, "at">): Line => ({
    name,
    id: null,
    values: starts.map((at) => byTime.get(at)?.[of] ?? null),
    total: null,
  });
  if (step === "minute") return [line(metric, "peak")];
  return [line("average", "average"), metric === "nodes" ? line("lowest", "lowest") : line("peak", "peak")];
}
