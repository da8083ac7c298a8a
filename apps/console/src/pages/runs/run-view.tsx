import type { RunRecord, RunTrace } from "@gantry/sdk";
import { X } from "lucide-react";
import { Failure, Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Confirmation } from "./confirmation.tsx";
import { StepDetails } from "./details/step-details.tsx";
import { StepSheet } from "./details/step-sheet.tsx";
import { RunOutcome } from "./run-outcome.tsx";
import { TraceTree } from "./trace/trace-tree.tsx";
import type { FollowedRun } from "./use-run.ts";
import { useWide } from "./use-wide.ts";

interface RunViewProps {
  run: RunRecord;
  followed: FollowedRun;
  /** The selected step; undefined: the run itself. */
  step: string | undefined;
  onStep(step: string | undefined): void;
  /** One column, for a panel beside something else. */
  compact?: boolean;
}

/** Questions, result and trace of a run, with the details of one step at the side. */
export function RunView({ run, followed, step, onStep, compact = false }: RunViewProps) {
  const { trace, pending, live } = followed;
  const isWide = useWide() && !compact;
  const outcome = <RunOutcome run={run} trace={trace.data} live={live.text} isShort={!isWide} />;
  const chosen = trace.data?.steps.find(({ id }) => id === step);
  const tree = (
    <Panel title="Trace" flush>
      <Loaded query={trace}>
        {(found: RunTrace) => (
          <TraceTree key={run.id} trace={found} readAt={trace.dataUpdatedAt} selected={chosen?.id} onSelect={onStep} />
        )}
      </Loaded>
    </Panel>
  );
  return (
    <>
      {pending.map((confirmation) => (
        <Confirmation key={confirmation.id} runId={run.id} confirmation={confirmation} />
      ))}
      {live.failure !== undefined && <Failure error={live.failure} onRetry={live.retry} />}
      {isWide ? (
        <div className="grid grid-cols-[minmax(0,7fr)_minmax(0,5fr)] items-start gap-4">
          {tree}
          <div className="sticky top-4 max-h-[calc(100vh-2rem)] min-w-0 overflow-y-auto">
            {chosen ? (
              <Panel title={chosen.name} actions={<CloseStep onClose={() => onStep(undefined)} />}>
                <StepDetails key={chosen.id} runId={run.id} step={chosen} live={live.text} />
              </Panel>
            ) : (
              outcome
            )}
          </div>
        </div>
      ) : (
        <>
          {outcome}
          {tree}
          <StepSheet title={chosen?.name} onClose={() => onStep(undefined)}>
            {chosen && <StepDetails key={chosen.id} runId={run.id} step={chosen} live={live.text} />}
          </StepSheet>
        </>
      )}
    </>
  );
}

function CloseStep({ onClose }: { onClose(): void }) {
  return (
    <button
      type="button"
      aria-label="Close step"
      className="rounded p-1 text-muted hover:bg-sunken hover:text-ink"
      onClick={onClose}
    >
      <X size={16} />
    </button>
  );
}
