import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "../notice.tsx";
import { Panel } from "../page.tsx";
import { type ChartRange, rangeText } from "./range.rules.ts";
import { valueText } from "./series.rules.ts";
import { SeriesChart } from "./series-chart.tsx";
import { type SeriesOf, seriesQuery } from "./series-query.ts";

interface SeriesPanelProps {
  title: string;
  of: SeriesOf;
  range: ChartRange;
  height?: number;
  empty?: string;
  /** A word on what the figures mean. */
  note?: ReactNode;
  actions?: ReactNode;
  className?: string;
}

/** A chart with its title and the total of the range. Sends one request. */
export function SeriesPanel({ title, of, range, height = 220, empty, note, actions, className }: SeriesPanelProps) {
  const query = useQuery(seriesQuery(of, range));
  const total = query.data?.total ?? null;
  return (
    <Panel
      {...(className !== undefined && { className })}
      title={
        <>
          {title}
          {query.data && total !== null && (
            <span className="ml-2 font-normal text-muted tabular-nums">{valueText(total, query.data.unit)}</span>
          )}
        </>
      }
      actions={actions}
    >
      {query.isError && !query.data ? (
        <div style={{ minHeight: height }}>
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        </div>
      ) : (
        <SeriesChart
          data={query.data}
          label={`${title}, ${rangeText(range)}`}
          height={height}
          {...(empty !== undefined && { empty })}
        />
      )}
      {note && <p className="mt-2 text-muted text-xs">{note}</p>}
    </Panel>
  );
}
