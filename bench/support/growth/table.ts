import type { Dimension } from "./dimension.ts";
import { backgroundName, type EndFigures, startName } from "./measure-end.ts";
import type { Cost } from "./meter.ts";

export interface Row {
  name: string;
  small: Cost;
  large: Cost;
  verdict: "flat" | "grows" | "GROWS";
  reason: string;
}

/** What the noise of a measurement and one more level of an index add. */
const spare = { cpuMs: 4, pages: 24 };

/** A cost may grow as the logarithm of the size. Time is not judged: it depends on the machine. */
export function judge(dimension: Dimension, [small, large]: readonly [EndFigures, EndFigures]): Row[] {
  const [from, to] = dimension.sizes;
  const most = Math.log(to) / Math.log(from);
  const reasons = new Map(dimension.operations(to).map(({ name, grows }) => [name, grows]));
  reasons.set(startName, dimension.startGrows);
  reasons.set(backgroundName, dimension.backgroundGrows);
  return [...large.costs].map(([name, cost]) => {
    const before = small.costs.get(name) as Cost;
    const isFlat = (["cpuMs", "pages"] as const).every((what) => !(cost[what] > before[what] * most + spare[what]));
    const reason = reasons.get(name);
    return {
      name,
      small: before,
      large: cost,
      verdict: isFlat ? "flat" : reason === undefined ? "GROWS" : "grows",
      reason: isFlat ? "" : (reason ?? ""),
    };
  });
}

const milliseconds = (value: number): string =>
  Number.isNaN(value) ? "–" : value < 100 ? value.toFixed(1) : value.toFixed(0);
const times = (small: number, large: number): string =>
  Number.isNaN(small) ? "–" : `${(large / Math.max(small, 0.01)).toFixed(1)} ×`;
const count = (value: number): string => Math.round(value).toLocaleString("en");

export function tableOf({ name, sizes: [small, large] }: Dimension, rows: readonly Row[]): string {
  return [
    `| ${name} | ${count(small)} ms | ${count(large)} ms | CPU ms | pages | CPU | pages | |`,
    "|---|---|---|---|---|---|---|---|",
    ...rows.map(
      (row) =>
        `| ${row.name} | ${milliseconds(row.small.ms)} | ${milliseconds(row.large.ms)} ` +
        `| ${milliseconds(row.small.cpuMs)} → ${milliseconds(row.large.cpuMs)} | ${count(row.small.pages)} → ${count(row.large.pages)} ` +
        `| ${times(row.small.cpuMs, row.large.cpuMs)} | ${times(row.small.pages, row.large.pages)} | ${row.verdict} |`,
    ),
  ].join("\n");
}
