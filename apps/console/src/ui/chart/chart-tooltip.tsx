import type { SeriesRecord } from "@gantry/sdk";
import type { PointedAt } from "./chart-canvas.tsx";
import { seriesName, stepText, sumAt, valueText } from "./series.rules.ts";

interface TooltipProps {
  data: SeriesRecord;
  colours: readonly string[];
  hidden: ReadonlySet<string>;
  at: PointedAt;
}

const width = 224;
const gap = 12;

/** All series of one step, and their sum. Stays on the side of the pointer that has more space. */
export function ChartTooltip({ data, colours, hidden, at: { index, x, isRight } }: TooltipProps) {
  const time = data.times[index];
  if (time === undefined) return null;
  const rows = data.series
    .map((one, position) => ({ ...one, position, value: one.values[index] ?? null }))
    .filter(({ name, id }) => !hidden.has(id ?? name));
  const isGrouped = data.group_by !== "none";
  // Groups without a part in this step would only make the list longer.
  const shown = isGrouped ? rows.filter(({ value }) => value !== null && value !== 0) : rows;
  const sum = sumAt(data, index, hidden);
  return (
    <div
      role="tooltip"
      className="pointer-events-none absolute top-0 z-10 rounded-md border border-strong-line bg-panel p-2.5 text-xs shadow-lg"
      style={{
        width,
        left: isRight ? `max(0px, ${x - gap - width}px)` : `min(${x + gap}px, calc(100% - ${width}px))`,
      }}
    >
      <p className="mb-1 whitespace-nowrap font-medium">{stepText(time, data.step)}</p>
      <dl className="grid grid-cols-[auto_1fr_auto] items-center gap-x-2 gap-y-0.5">
        {shown.map(({ name, id, position, value }) => (
          <div key={id ?? name} className="contents">
            <span aria-hidden className="size-2 rounded-sm" style={{ background: `var(${colours[position]})` }} />
            <dt className="truncate text-muted">{seriesName(data, name)}</dt>
            <dd className="text-right tabular-nums">{valueText(value, data.unit)}</dd>
          </div>
        ))}
        {shown.length === 0 && <dt className="col-span-3 text-muted">Nothing</dt>}
        {sum !== undefined && shown.length > 1 && (
          <div className="contents font-medium">
            <span />
            <dt>Total</dt>
            <dd className="text-right tabular-nums">{valueText(sum, data.unit)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
