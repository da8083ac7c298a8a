import type { SeriesRecord } from "@gantry/sdk";
import { useMemo, useState } from "react";
import { useTheme } from "../../shell/theme.ts";
import type { PointedAt } from "./chart-canvas.tsx";
import { ChartLegend } from "./chart-legend.tsx";
import { ChartTable } from "./chart-table.tsx";
import { ChartTooltip } from "./chart-tooltip.tsx";
import { LazyCanvas } from "./lazy-canvas.tsx";
import { coloursOf, hasNothingToShow, hasUnknown, type KnownColours, stepValues } from "./series.rules.ts";

/** Of all charts of this tab. */
const knownColours: KnownColours = new Map();

interface SeriesChartProps {
  /** Undefined while it is loaded. */
  data: SeriesRecord | undefined;
  /** What the chart shows, for screen readers: "Spend by model, last 30 days". */
  label: string;
  /** Of the drawing, in pixels. */
  height?: number;
  /** Shown if there is nothing to draw. */
  empty?: string;
}

/** A chart of `GET /api/v2/series`: stacked bars for amounts, lines for levels. All states have the same height. */
export function SeriesChart({ data, label, height = 220, empty = "No data in this range" }: SeriesChartProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [pointed, setPointed] = useState<PointedAt>();
  const [byKey, setByKey] = useState<number>();
  const theme = useTheme();
  const colours = useMemo(() => (data ? coloursOf(data, knownColours) : []), [data]);

  if (!data) return <Blank label={label} height={height} isBusy />;
  if (hasNothingToShow(data)) return <Blank label={label} height={height} text={empty} />;

  const last = data.times.length - 1;
  const leave = () => {
    setByKey(undefined);
    setPointed(undefined);
  };
  return (
    <figure aria-label={label} className="min-w-0">
      <div
        className="relative rounded has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-accent has-[:focus-visible]:outline-offset-2"
        style={{ height }}
      >
        {/* The keyboard moves the tooltip as the pointer does. */}
        <input
          type="range"
          className="sr-only"
          aria-label={`${label}: values by time`}
          aria-valuetext={stepValues(data, byKey ?? last)}
          min={0}
          max={last}
          value={byKey ?? last}
          onFocus={() => setByKey(byKey ?? last)}
          onBlur={leave}
          onChange={({ target }) => setByKey(Number(target.value))}
        />
        <LazyCanvas
          key={theme}
          data={data}
          colours={colours}
          hidden={hidden}
          pointed={byKey}
          onPoint={(at) => {
            setPointed(at);
            if (at?.index !== byKey) setByKey(undefined);
          }}
        />
        {pointed && <ChartTooltip data={data} colours={colours} hidden={hidden} at={pointed} />}
      </div>
      <ChartLegend data={data} colours={colours} hidden={hidden} onHidden={setHidden} />
      {hasUnknown(data) && (
        <p className="mt-2 text-muted text-xs">Steps without a bar may be older than these figures.</p>
      )}
      <ChartTable data={data} label={label} />
    </figure>
  );
}

function Blank({ label, height, text, isBusy }: { label: string; height: number; text?: string; isBusy?: boolean }) {
  return (
    <figure aria-label={label} aria-busy={isBusy} className="relative min-w-0" style={{ height }}>
      <div aria-hidden className="absolute inset-0 flex flex-col justify-between pb-5">
        {["a", "b", "c", "d"].map((line) => (
          <div
            key={line}
            className={`border-line border-t ${isBusy ? "animate-pulse motion-reduce:animate-none" : ""}`}
          />
        ))}
      </div>
      <figcaption className="absolute inset-0 grid place-items-center text-muted">
        {isBusy ? <span className="sr-only">Loading</span> : <span className="bg-panel px-3">{text}</span>}
      </figcaption>
    </figure>
  );
}
