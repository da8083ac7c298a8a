import type { TraceStep } from "@gantry/sdk";
import { Ban, ChevronRight, CircleX, LoaderCircle, Play } from "lucide-react";
import { memo, type ReactNode } from "react";
import { count, money, seconds } from "../../../ui/format.ts";
import { plainLine } from "../../predictions/prediction-summary.rules.ts";
import { barClass, purposeLabel, stepLooks } from "./step-look.ts";
import type { TreeRow } from "./trace-tree.rules.ts";

interface TraceRowProps extends TreeRow {
  name: string;
  durationMs: number | null;
  tokens: number | undefined;
  cost: number | undefined;
  /** The step is under way. */
  isLive: boolean;
  /** Of the bar, in percent. */
  left: number | undefined;
  width: number | undefined;
  /** Drawn when it is scrolled to, which keeps long traces fast. */
  isDeferred: boolean;
  isSelected: boolean;
  isTabStop: boolean;
  onSelect(id: string): void;
  onToggle(id: string): void;
}

/** Columns of the axis and of each row; a phone shows the bar below the name. */
export const traceColumns =
  "grid grid-cols-[minmax(0,1fr)_4.5rem] items-center gap-x-3 sm:grid-cols-[minmax(0,1fr)_4.5rem_minmax(0,38%)]";

/** Memoized: with a clock that ticks, only the bars that grow are drawn again. */
export const TraceRow = memo(function TraceRow(row: TraceRowProps) {
  const { id, step, level, name, isSelected, isTabStop, left, width, onSelect } = row;
  const title = [step && stepLooks[step.kind].kind, name, step?.summary].filter(Boolean).join("\n");
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows.
    <div
      role="treeitem"
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      aria-expanded={row.hasChildren ? row.isOpen : undefined}
      tabIndex={isTabStop ? 0 : -1}
      data-step={id}
      title={title}
      className={`${traceColumns} min-h-9 cursor-pointer px-3 py-1 -outline-offset-2 ${row.isDeferred ? "[contain-intrinsic-size:auto_2.75rem] [content-visibility:auto]" : ""} ${isSelected ? "bg-accent-soft" : "hover:bg-sunken/60"}`}
      onClick={() => onSelect(id)}
    >
      <Name row={row} />
      <span className="text-right text-muted text-xs tabular-nums">
        {row.durationMs === null ? "" : seconds(row.durationMs / 1000)}
      </span>
      <span className="relative col-span-2 h-2 sm:col-span-1 sm:h-3.5" aria-hidden>
        {left !== undefined && width !== undefined && (
          <span
            className={`absolute inset-y-0 min-w-0.5 rounded-sm ${step ? barClass(step) : "bg-muted/40"} ${row.isLive ? "motion-safe:animate-pulse" : ""}`}
            style={{ left: `${left}%`, width: `${width}%` }}
          />
        )}
      </span>
    </div>
  );
});

function Name({ row }: { row: TraceRowProps }) {
  const { id, step, level, name, hasChildren, isOpen, tokens, cost, onToggle } = row;
  const Icon = step ? stepLooks[step.kind].icon : Play;
  const purpose = step && purposeLabel(step);
  const line = [
    ...(purpose ? [purpose] : []),
    ...(tokens ? [`${count(tokens)} tokens`] : []),
    ...(cost ? [money(cost)] : []),
    ...(step?.summary ? [plainLine(step.summary)] : []),
  ].join(" · ");
  return (
    <span className="flex min-w-0 items-center gap-1.5" style={{ paddingLeft: `${Math.min(level - 1, 8) * 0.875}rem` }}>
      {/* The keyboard opens rows with arrows: the chevron is for the mouse only. */}
      <span
        aria-hidden
        className={`-m-1 shrink-0 rounded p-1 text-muted ${hasChildren ? "hover:bg-sunken hover:text-ink" : "invisible"}`}
        onClick={(event) => {
          event.stopPropagation();
          onToggle(id);
        }}
      >
        <ChevronRight size={13} className={isOpen ? "rotate-90" : ""} />
      </span>
      <StateIcon step={step} fallback={<Icon size={14} className="shrink-0 text-muted" />} />
      <span className="flex min-w-0 flex-1 flex-col">
        <span
          className={`truncate ${step?.kind === "tool" ? "font-mono text-xs" : "font-medium"} ${step?.status === "error" ? "text-bad" : ""}`}
        >
          {name}
        </span>
        {line && <span className="truncate text-muted text-xs tabular-nums">{line}</span>}
      </span>
    </span>
  );
}

const stateLabels: Partial<Record<TraceStep["status"], string>> = {
  error: "Failed",
  denied: "Denied",
  cancelled: "Cancelled",
};

/** Ordinary steps show what they are, others how they ended. */
function StateIcon({ step, fallback }: { step: TraceStep | undefined; fallback: ReactNode }) {
  const label = step && stateLabels[step.status];
  if (step?.status === "running") return <LoaderCircle size={14} className="shrink-0 animate-spin text-info" />;
  if (!label) return fallback;
  const Icon = step.status === "error" ? CircleX : Ban;
  return (
    <Icon size={14} aria-label={label} className={`shrink-0 ${step.status === "error" ? "text-bad" : "text-warn"}`} />
  );
}
