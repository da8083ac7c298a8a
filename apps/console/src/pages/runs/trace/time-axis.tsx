import { seconds } from "../../../ui/format.ts";
import { labelled, type TimeScale } from "./time-scale.rules.ts";
import { traceColumns } from "./trace-row.tsx";

/** Labels above the bars. The list of steps has the same figures as text. */
export function TimeAxis({ scale }: { scale: TimeScale }) {
  return (
    <div className={`${traceColumns} border-line border-b px-3 py-1.5 text-muted text-xs`} aria-hidden>
      <span>Step</span>
      <span className="text-right">Duration</span>
      <span className="relative hidden h-4 sm:block">
        {labelled(scale.ticks).map(({ at, label }) => (
          <span key={label} className="absolute whitespace-nowrap tabular-nums" style={{ left: `${at}%` }}>
            {label}
          </span>
        ))}
      </span>
    </div>
  );
}

/** Behind the bars: a line at each label, and where a wait is drawn shorter than it was. */
export function TimeGrid({ scale }: { scale: TimeScale }) {
  return (
    <div className={`${traceColumns} pointer-events-none absolute inset-0 hidden px-3 sm:grid`} aria-hidden>
      <span />
      <span />
      <span className="relative h-full">
        {scale.ticks.map(({ at, label }) => (
          <span key={label} className="absolute inset-y-0 w-px bg-line/70" style={{ left: `${at}%` }} />
        ))}
        {scale.breaks.map(({ left, width, ms }) => (
          <span
            key={left}
            title={`Waited ${seconds(ms / 1000)}`}
            className="absolute inset-y-0 bg-sunken/70"
            style={{ left: `${left}%`, width: `${width}%` }}
          />
        ))}
      </span>
    </div>
  );
}
