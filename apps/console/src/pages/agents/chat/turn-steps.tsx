import type { RunTrace, TraceStep } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, CircleX, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { money, seconds } from "../../../ui/format.ts";
import { linkClass } from "../../../ui/link.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { traceQuery } from "../../runs/run-queries.ts";
import { stepLooks } from "../../runs/trace/step-look.ts";

/** Tool calls and sub-agents of the run itself. */
export const callsOf = ({ steps }: RunTrace): TraceStep[] =>
  steps.filter(({ kind, parent_id }) => parent_id === null && (kind === "tool" || kind === "agent"));

/** What an agent did for its answer, folded. The trace is read when it is opened, unless it is known already. */
export function TurnSteps({ runId, trace }: { runId: string; trace?: RunTrace | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const read = useQuery({ ...traceQuery(runId), enabled: isOpen });
  const known = trace ? callsOf(trace) : undefined;
  if (known?.length === 0) return null;
  const label = known ? (known.length === 1 ? "1 tool call" : `${known.length} tool calls`) : "Tool calls";
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded text-muted text-xs hover:text-ink">{label}</summary>
      {isOpen && (
        <div className="mt-2 border-line border-l-2 pl-3">
          {known ? (
            <Calls runId={runId} calls={known} />
          ) : (
            <Loaded query={read}>{(found) => <Calls runId={runId} calls={callsOf(found)} />}</Loaded>
          )}
        </div>
      )}
    </details>
  );
}

function Calls({ runId, calls }: { runId: string; calls: readonly TraceStep[] }) {
  if (calls.length === 0) return <p className="text-muted text-xs">No tool calls.</p>;
  return (
    <ul className="flex flex-col gap-1">
      {calls.map((step) => (
        <li key={step.id} className="flex min-w-0 items-center gap-2 text-xs">
          <StepIcon step={step} />
          <Link
            to="/runs/$runId"
            params={{ runId }}
            search={{ step: step.id }}
            className={`shrink-0 ${linkClass} ${step.kind === "tool" ? "font-mono" : ""}`}
          >
            {step.name}
          </Link>
          <span className="min-w-0 truncate text-muted">{step.summary}</span>
          <span className="ml-auto shrink-0 text-muted tabular-nums">
            {[step.duration_ms === null ? "" : seconds(step.duration_ms / 1000), step.cost ? money(step.cost) : ""]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </li>
      ))}
    </ul>
  );
}

function StepIcon({ step: { kind, status } }: { step: TraceStep }) {
  if (status === "running") return <LoaderCircle size={13} aria-label="Running" className="shrink-0 animate-spin" />;
  if (status === "error") return <CircleX size={13} aria-label="Failed" className="shrink-0 text-bad" />;
  if (status === "denied") return <Ban size={13} aria-label="Denied" className="shrink-0 text-warn" />;
  if (status === "cancelled") return <Ban size={13} aria-label="Cancelled" className="shrink-0 text-muted" />;
  const Icon = stepLooks[kind].icon;
  return <Icon size={13} aria-hidden className="shrink-0 text-muted" />;
}
