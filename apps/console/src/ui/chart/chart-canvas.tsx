import type { SeriesRecord } from "@gantry/sdk";
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
} from "chart.js";
import { useEffect, useRef } from "react";
import { axisText, axisTick, kindOf } from "./series.rules.ts";

Chart.register(BarController, BarElement, LineController, LineElement, PointElement, CategoryScale, LinearScale);

export interface PointedAt {
  index: number;
  /** From the left edge of the chart. */
  x: number;
  /** In the right half. */
  isRight: boolean;
}

export interface CanvasProps {
  data: SeriesRecord;
  /** A CSS variable for each series. */
  colours: readonly string[];
  hidden: ReadonlySet<string>;
  pointed: number | undefined;
  onPoint(at: PointedAt | undefined): void;
}

/** The drawing alone: names, legend and tooltip are HTML around it. Takes its colours from the theme when it is mounted. */
export function ChartCanvas({ data, colours, hidden, pointed, onPoint }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<Chart>(undefined);
  const told = useRef(onPoint);
  told.current = onPoint;

  useEffect(() => {
    if (!canvas.current) return;
    const drawn = new Chart(canvas.current, { ...configuration(data, colours), plugins: [pointer(told)] });
    chart.current = drawn;
    return () => {
      chart.current = undefined;
      drawn.destroy();
    };
  }, [data, colours]);

  useEffect(() => {
    const drawn = chart.current;
    if (!drawn) return;
    data.series.forEach(({ name, id }, n) => {
      drawn.setDatasetVisibility(n, !hidden.has(id ?? name));
    });
    drawn.update();
  }, [data, hidden]);

  useEffect(() => {
    const drawn = chart.current;
    if (!drawn) return;
    const elements = pointed === undefined ? [] : activeAt(drawn, pointed);
    drawn.setActiveElements(elements);
    drawn.update("none");
    if (elements.length > 0 && pointed !== undefined) told.current(placeOf(drawn, pointed));
  }, [pointed]);

  return <canvas ref={canvas} aria-hidden />;
}

function placeOf(chart: Chart, index: number): PointedAt {
  const x = chart.scales.x?.getPixelForValue(index) ?? 0;
  return { index, x, isRight: x > chart.width / 2 };
}

const activeAt = (chart: Chart, index: number) =>
  chart.getSortedVisibleDatasetMetas().map(({ index: datasetIndex }) => ({ datasetIndex, index }));

/** Finds the step under the pointer, also between points and above bars. */
function pointer(told: { current: CanvasProps["onPoint"] }) {
  return {
    id: "pointer",
    afterEvent(chart: Chart, { event }: { event: { type: string; x: number | null } }) {
      if (event.type === "mouseout") return told.current(undefined);
      const scale = chart.scales.x;
      if (
        !scale ||
        event.x === null ||
        (event.type !== "mousemove" && event.type !== "touchmove" && event.type !== "click")
      )
        return;
      const index = scale.getValueForPixel(event.x);
      const last = (chart.data.labels?.length ?? 0) - 1;
      if (index === undefined || last < 0) return;
      const within = Math.min(Math.max(index, 0), last);
      told.current(placeOf(chart, within));
    },
    beforeDatasetsDraw(chart: Chart) {
      const [active] = chart.getActiveElements();
      const scale = chart.scales.x;
      if (!active || !scale) return;
      const { ctx, chartArea } = chart;
      const x = scale.getPixelForValue(active.index);
      ctx.save();
      ctx.strokeStyle = token("--strong-line");
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.restore();
    },
  };
}

const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function configuration(data: SeriesRecord, colours: readonly string[]): ChartConfiguration {
  const isBars = kindOf(data) === "bars";
  const [ink, line] = [token("--muted"), token("--line")];
  const isSparse = data.times.length <= 31;
  const font = { size: 11, family: getComputedStyle(document.body).fontFamily };
  const datasets = data.series.map(({ name, id, values }, n) => {
    const colour = token(colours[n] ?? "");
    const common = { label: id ?? name, data: values, backgroundColor: colour };
    if (isBars)
      return {
        ...common,
        type: "bar" as const,
        maxBarThickness: 36,
        categoryPercentage: isSparse ? 0.8 : 0.95,
        barPercentage: 0.95,
      };
    return {
      ...common,
      type: "line" as const,
      borderColor: colour,
      borderWidth: 2,
      // A value between two gaps would otherwise not be visible.
      pointRadius: values.map((value, i) => (value !== null && isAlone(values, i) ? 3 : 0)),
      pointHoverRadius: 4,
      spanGaps: false,
    };
  });
  return {
    type: isBars ? "bar" : "line",
    data: { labels: data.times, datasets },
    options: {
      responsive: true,
      maintainAspectRatio: false,
      // Figures that move are hard to read, and some people cannot bear them.
      animation: false,
      events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
      interaction: { mode: "index", intersect: false },
      scales: {
        x: {
          stacked: isBars,
          offset: isBars,
          grid: { display: false },
          border: { color: line },
          ticks: {
            color: ink,
            font,
            maxRotation: 0,
            autoSkip: true,
            autoSkipPadding: 16,
            callback: (_value, index) => axisTick(data, index),
          },
        },
        y: {
          stacked: isBars,
          beginAtZero: true,
          // An axis without values would otherwise end at 1, with odd steps between.
          suggestedMax: data.unit === "count" ? 4 : undefined,
          grid: { color: line },
          border: { display: false },
          ticks: {
            color: ink,
            font,
            maxTicksLimit: 6,
            ...(data.unit === "count" || data.unit === "tokens" ? { precision: 0 } : {}),
            callback: (value, _index, ticks) =>
              axisText(Number(value), data.unit, Math.abs((ticks[1]?.value ?? 0) - (ticks[0]?.value ?? 0))),
          },
        },
      },
    },
  } as ChartConfiguration;
}

const isAlone = (values: readonly (number | null)[], n: number): boolean =>
  (values[n - 1] ?? null) === null && (values[n + 1] ?? null) === null;
