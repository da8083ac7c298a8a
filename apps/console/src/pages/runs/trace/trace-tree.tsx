import type { RunTrace } from "@gantry/sdk";
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from "react";
import { Notice } from "../../../ui/notice.tsx";
import { isOver } from "../run-status.tsx";
import { TimeAxis, TimeGrid } from "./time-axis.tsx";
import { TraceRow } from "./trace-row.tsx";
import { spanOf, traceTimes } from "./trace-times.rules.ts";
import {
  ancestorsOf,
  closedAtFirst,
  moveByKey,
  rootId,
  type TreeRow,
  traceTree,
  treeRows,
} from "./trace-tree.rules.ts";
import { useAge } from "./use-age.ts";

const deferredFrom = 150;

interface TraceTreeProps {
  trace: RunTrace;
  /** When it was read, in milliseconds. */
  readAt: number;
  /** Undefined: the run itself. */
  selected: string | undefined;
  onSelect(step: string | undefined): void;
}

/** What happened in a run and its sub-agents, as a tree with bars on one time axis. */
export function TraceTree({ trace, readAt, selected, onSelect }: TraceTreeProps) {
  const { steps } = trace;
  const age = useAge(readAt, !isOver(trace));
  const times = useMemo(() => traceTimes(trace, age), [trace, age]);
  const [closed, setClosed] = useState(() => closedAtFirst(steps));
  const shown = useMemo(() => {
    const opened = selected === undefined ? [] : ancestorsOf(steps, selected);
    return treeRows(traceTree(steps), new Set([...closed].filter((id) => !opened.includes(id))));
  }, [steps, closed, selected]);
  const [focused, setFocused] = useState<string>();
  const tree = useRef<HTMLDivElement>(null);
  const toggle = useCallback((id: string, isOpen?: boolean) => {
    setClosed((before) => {
      const after = new Set(before);
      if (isOpen ?? before.has(id)) after.delete(id);
      else after.add(id);
      return after;
    });
  }, []);
  const select = useRef(onSelect);
  select.current = onSelect;
  const onRow = useCallback((id: string) => {
    setFocused(id);
    select.current(id === rootId ? undefined : id);
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const current = (event.target as HTMLElement).dataset.step;
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const isChosen = event.key === "Enter" || event.key === " ";
    const move = moveByKey(shown, current, event.key);
    if (!isChosen && !move) return;
    event.preventDefault();
    if (isChosen) onRow(current);
    else if (move?.kind === "focus") {
      setFocused(move.id);
      tree.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(move.id)}"]`)?.focus();
    } else if (move) toggle(move.id, move.kind === "open");
  };
  const tabStop = [focused, selected, rootId].find((id) => shown.some((row) => row.id === id));
  return (
    <>
      <TimeAxis scale={times.scale} />
      <div className="relative py-1">
        <TimeGrid scale={times.scale} />
        <div ref={tree} role="tree" aria-label="Steps of the run" className="relative" onKeyDown={onKeyDown}>
          {shown.map((row) => (
            <TraceRow
              key={row.id}
              {...row}
              {...figuresOf(row, trace, times)}
              // The number of a live run's steps is not known yet, and a new one must not redraw all others.
              siblings={isOver(trace) ? row.siblings : -1}
              isDeferred={shown.length > deferredFrom}
              isSelected={row.id === (selected ?? rootId)}
              isTabStop={row.id === tabStop}
              onSelect={onRow}
              onToggle={toggle}
            />
          ))}
        </div>
      </div>
      {trace.truncated && (
        <div className="p-3">
          <Notice>This run has more steps than are shown here. Open the runs of its sub-agents to see theirs.</Notice>
        </div>
      )}
    </>
  );
}

/** As plain values, so that rows that did not change are not drawn again. */
function figuresOf({ step }: TreeRow, trace: RunTrace, { startMs, nowMs, scale }: ReturnType<typeof traceTimes>) {
  const span = step ? spanOf(step, startMs, nowMs) : { from: 0, to: nowMs };
  const left = span && scale.at(span.from);
  const usage = step ? step.usage : trace.usage;
  const isLive = step ? step.status === "running" : !isOver(trace);
  return {
    name: step?.name ?? trace.agent.name,
    durationMs: step && !isLive && step.status !== "waiting" ? step.duration_ms : span ? span.to - span.from : null,
    tokens: usage && usage.input_tokens + usage.output_tokens,
    cost: step ? step.cost : trace.cost,
    isLive: isLive && step !== undefined,
    left,
    width: span && left !== undefined ? scale.at(span.to) - left : undefined,
  };
}
