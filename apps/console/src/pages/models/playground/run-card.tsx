import { Square } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { seconds, time } from "../../../ui/format.ts";
import { MayHaveSucceeded } from "../../../ui/may-have-succeeded.tsx";
import { Failure, Loading } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import type { Tone } from "../../../ui/toast.ts";
import { OutputView, TextOutput } from "../output/output-view.tsx";
import { Elapsed } from "./elapsed.tsx";
import { RunFigures } from "./run-figures.tsx";
import type { Run } from "./use-runs.ts";

interface RunCardProps {
  run: Run;
  onCancel(): void;
  /** Copies the input of this run into the form. */
  onReuse(): void;
}

const states: Record<Run["state"], { label: string; tone: Tone }> = {
  open: { label: "Running", tone: "info" },
  done: { label: "Done", tone: "good" },
  cancelled: { label: "Cancelled", tone: "plain" },
  failed: { label: "Failed", tone: "bad" },
};

export function RunCard({ run, onCancel, onReuse }: RunCardProps) {
  const { state, predictionId, startedAt, endedAt, error } = run;
  const isOpen = state === "open";
  return (
    <Panel
      title={
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={states[state].tone}>{labelOf(run)}</Badge>
          <span className="font-normal text-muted" title={time(new Date(startedAt))}>
            {endedAt === undefined ? <Elapsed since={startedAt} /> : seconds((endedAt - startedAt) / 1000)}
          </span>
        </span>
      }
      actions={
        isOpen ? (
          <Button icon={<Square size={12} />} onClick={onCancel}>
            {run.text === "" ? "Cancel" : "Stop"}
          </Button>
        ) : (
          <Button kind="quiet" onClick={onReuse}>
            Reuse input
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {state === "failed" && <Failure error={error} />}
        {state === "failed" && run.mayBeAccepted && <MayHaveSucceeded error={error} />}
        <div aria-live="polite" aria-busy={isOpen} className="empty:hidden">
          <RunOutput run={run} />
        </div>
        {!isOpen && predictionId !== undefined && <RunFigures predictionId={predictionId} />}
      </div>
    </Panel>
  );
}

function labelOf({ state, predictionId, text }: Run): string {
  return state === "open" && text === "" && predictionId === undefined ? "Sending" : states[state].label;
}

function RunOutput({ run: { state, text, output, files } }: { run: Run }) {
  const hasOutput = Object.keys(output).length > 0;
  if (text === "" && !hasOutput) {
    if (state === "open") return <Loading />;
    return state === "done" ? <p className="text-muted">No output.</p> : null;
  }
  return (
    <>
      {text !== "" && <TextOutput text={text} />}
      {hasOutput && <OutputView output={output} files={files} />}
    </>
  );
}
