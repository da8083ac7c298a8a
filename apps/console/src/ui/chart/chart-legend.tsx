import type { SeriesRecord } from "@gantry/sdk";
import { seriesName, valueText } from "./series.rules.ts";

interface LegendProps {
  data: SeriesRecord;
  colours: readonly string[];
  hidden: ReadonlySet<string>;
  onHidden(hidden: ReadonlySet<string>): void;
}

/** Shows and hides series. A chart with a single series needs none. */
export function ChartLegend({ data, colours, hidden, onHidden }: LegendProps) {
  if (data.series.length < 2 && data.group_by === "none") return null;
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onHidden(next);
  };
  return (
    <ul className="mt-3 flex flex-wrap gap-x-1 gap-y-1 text-xs" aria-label="Series">
      {data.series.map(({ name, id, total }, n) => {
        const key = id ?? name;
        const isShown = !hidden.has(key);
        return (
          <li key={key} className="min-w-0">
            <button
              type="button"
              aria-pressed={isShown}
              title={isShown ? "Hide this series" : "Show this series"}
              onClick={() => toggle(key)}
              className="flex max-w-full items-center gap-1.5 rounded px-1.5 py-1 text-left hover:bg-sunken aria-[pressed=false]:text-muted aria-[pressed=false]:line-through"
            >
              <span
                aria-hidden
                className="size-2.5 shrink-0 rounded-sm border"
                style={{
                  borderColor: `var(${colours[n]})`,
                  background: isShown ? `var(${colours[n]})` : "transparent",
                }}
              />
              <span className="truncate">{seriesName(data, name)}</span>
              {total !== null && <span className="text-muted tabular-nums">{valueText(total, data.unit)}</span>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
