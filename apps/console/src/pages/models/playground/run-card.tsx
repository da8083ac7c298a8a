import { Square } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { seconds, time } from "../../../ui/format.ts";
import { MayBeDone } from "../../../ui/may-be-done.tsx";
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
  /** Puts what this run was given into the form again. */
  onReuse(): void;
}

const states: Record<Run["state"], { word: string; tone: Tone }> = {
  open: { word: "running", tone: "info" },
  done: { word: "done", tone: "good" },
  cancelled: { word: "cancelled", tone: "plain" },
  failed: { word: "failed", tone: "bad" },
};

export function RunCard({ run, onCancel, onReuse }: RunCardProps) {
  const { state, predictionId, startedAt, endedAt, error } = run;
  const isOpen = state === "open";
  return (
    <Panel
      title={
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={states[state].tone}>{wordOf(run)}</Badge>
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
            Use these values
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {state === "failed" && <Failure error={error} />}
        {state === "failed" && run.mayBeAccepted && <MayBeDone error={error} />}
        <div aria-live="polite" aria-busy={isOpen} className="empty:hidden">
          <RunOutput run={run} />
        </div>
        {!isOpen && predictionId !== undefined && <RunFigures predictionId={predictionId} />}
      </div>
    </Panel>
  );
}

/** Until it says something nobody knows whether it waits for its turn or works. */
function wordOf({ state, predictionId, text }: Run): string {
  if (state !== "open" || text !== "") return states[state].word;
  return predictionId === undefined ? "sending" : "queued or running";
}

function RunOutput({ run: { state, text, output, files } }: { run: Run }) {
  const hasWhole = Object.keys(output).length > 0;
  if (text === "" && !hasWhole) {
    if (state === "open") return <Loading />;
    return state === "done" ? <p className="text-muted">It gave nothing.</p> : null;
  }
  return (
    <>
      {text !== "" && <TextOutput text={text} />}
      {hasWhole && <OutputView output={output} files={files} />}
    </>
  );
}
