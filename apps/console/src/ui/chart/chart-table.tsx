import type { SeriesRecord } from "@gantry/sdk";
import { memo } from "react";
import { seriesName, stepText, valueText } from "./series.rules.ts";

/** The same figures for screen readers. */
export const ChartTable = memo(({ data, label }: { data: SeriesRecord; label: string }) => (
  <div className="sr-only">
    <table aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{data.step === "day" ? "Day (UTC)" : "Time"}</th>
          {data.series.map(({ name, id }) => (
            <th key={id ?? name} scope="col">
              {seriesName(data, name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.times.map((time, n) => (
          <tr key={time}>
            <th scope="row">{stepText(time, data.step)}</th>
            {data.series.map(({ name, id, values }) => (
              <td key={id ?? name}>{valueText(values[n] ?? null, data.unit)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
));
