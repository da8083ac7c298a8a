import { useState } from "react";
import { money, seconds } from "../../../ui/format.ts";
import { TextLink } from "../../../ui/link.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { RunningClock } from "../../../ui/running-clock.tsx";
import { isOver, RunStatusBadge } from "../../runs/run-status.tsx";
import { RunView } from "../../runs/run-view.tsx";
import { useRun } from "../../runs/use-run.ts";

/** A run of the draft: its questions, result and trace. */
export function TestRun({ runId }: { runId: string }) {
  const followed = useRun(runId);
  const [step, setStep] = useState<string>();
  return (
    <Loaded query={followed.run}>
      {(run) => (
        <section aria-label="Test run" className="flex min-w-0 flex-col gap-3">
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <RunStatusBadge run={run} />
            <span className="text-muted">
              {isOver(run) ? (
                <>
                  {run.duration_ms !== undefined && `${seconds(run.duration_ms / 1000)} · `}
                  {money(run.cost ?? 0)}
                </>
              ) : (
                <RunningClock since={run.created_at} />
              )}
            </span>
            <TextLink className="ml-auto" to="/runs/$runId" params={{ runId }}>
              Open run
            </TextLink>
          </p>
          <RunView compact run={run} followed={followed} step={step} onStep={setStep} />
        </section>
      )}
    </Loaded>
  );
}
