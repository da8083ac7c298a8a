import { Square } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { isConnectionError } from "../../../ui/error-text.rules.ts";
import { seconds, time } from "../../../ui/format.ts";
import { MayHaveSucceeded } from "../../../ui/may-have-succeeded.tsx";
import { Failure, Loading } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { OutputView, TextOutput } from "../output/output-view.tsx";
import { Elapsed } from "./elapsed.tsx";
import type { Run } from "./run.ts";
import { RunFigures } from "./run-figures.tsx";

interface RunCardProps {
  run: Run;
  onCancel(): void;
  /** Follows the prediction again after a lost connection. */
  onRetry(): void;
}

const statuses: Record<Run["state"], string> = {
  open: "running",
  done: "succeeded",
  cancelled: "cancelled",
  failed: "failed",
};

export function RunCard({ run, onCancel, onRetry }: RunCardProps) {
  const { state, predictionId, startedAt, endedAt, error } = run;
  const isOpen = state === "open";
  return (
    <Panel
      title={
        <span className="flex flex-wrap items-center gap-2">
          Output
          <Status status={statuses[state]} code={statusIn(error)} />
          <span className="font-normal text-muted tabular-nums" title={time(new Date(startedAt))}>
            {endedAt === undefined ? <Elapsed since={startedAt} /> : seconds(Math.max(0, endedAt - startedAt) / 1000)}
          </span>
        </span>
      }
      actions={
        isOpen && (
          <Button icon={<Square size={12} />} busy={run.isCancelling ?? false} onClick={onCancel}>
            {run.text === "" ? "Cancel" : "Stop"}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {state === "failed" && (
          <Failure error={error} {...(isConnectionError(error) && predictionId !== undefined && { onRetry })} />
        )}
        {state === "failed" && run.mayBeAccepted && <MayHaveSucceeded error={error} />}
        <div aria-busy={isOpen} className="empty:hidden">
          <RunOutput run={run} />
        </div>
        {!isOpen && endedAt !== undefined && predictionId !== undefined && (
          <RunFigures predictionId={predictionId} times={run.watched} />
        )}
      </div>
      <p className="sr-only" role="status">
        {isOpen ? "" : `Prediction ${statuses[state]}`}
      </p>
    </Panel>
  );
}

const statusIn = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "status" in error ? Number(error.status) : undefined;

function RunOutput({ run: { state, text, output, files } }: { run: Run }) {
  const hasOutput = Object.keys(output).length > 0;
  if (text === "" && !hasOutput) {
    if (state === "open") return <Loading />;
    return state === "done" ? <p className="text-muted">No output.</p> : null;
  }
  return (
    <>
      {text !== "" && <TextOutput text={text} streaming={state === "open"} />}
      {hasOutput && <OutputView output={output} files={files} />}
    </>
  );
}
