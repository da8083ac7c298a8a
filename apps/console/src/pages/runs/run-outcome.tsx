import type { RunRecord, RunTrace } from "@gantry/sdk";
import { LoaderCircle } from "lucide-react";
import { CodeBlock } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Panel } from "../../ui/page.tsx";
import { LiveAnswer } from "./live/live-answer.tsx";
import type { LiveText } from "./live/live-text.rules.ts";
import { RunResult } from "./run-result.tsx";
import { isOver } from "./run-status.tsx";
import { ShowMore } from "./show-more.tsx";

interface RunOutcomeProps {
  run: RunRecord;
  trace: RunTrace | undefined;
  live: LiveText | undefined;
  /** Long results leave room for the trace below. */
  isShort?: boolean;
}

/** The result of the run, or what it is doing now; then its input. */
export function RunOutcome({ run, trace, live, isShort = false }: RunOutcomeProps) {
  const result = isShort ? (
    <ShowMore>
      <RunResult run={run} />
    </ShowMore>
  ) : (
    <RunResult run={run} />
  );
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Panel title={isOver(run) ? "Result" : "Now"}>
        {isOver(run) ? result : <Now run={run} trace={trace} live={live} />}
      </Panel>
      <CodeBlock wrap label="Input" language="json" text={pretty(run.input ?? {})} />
    </div>
  );
}

function Now({ run: { status, phase }, trace, live }: Omit<RunOutcomeProps, "isShort">) {
  if (phase === "awaiting_confirmation") return <p className="text-muted">Waiting for your answer.</p>;
  if (status === "pending" || phase === "queued") return <Busy text="Waiting for a free worker…" />;
  const running = trace?.steps.filter((step) => step.status === "running" && step.kind !== "agent") ?? [];
  const tools = running.filter(({ kind }) => kind === "tool").map(({ name }) => name);
  const isWriting = running.some(({ kind, prediction_id }) => kind === "model" && prediction_id === live?.predictionId);
  if (tools.length > 0 && !isWriting) return <Busy text={`Running ${[...new Set(tools)].join(", ")}…`} />;
  return <LiveAnswer text={live} />;
}

function Busy({ text }: { text: string }) {
  return (
    <p className="flex items-center gap-2 text-muted">
      <LoaderCircle size={14} className="shrink-0 animate-spin" />
      {text}
    </p>
  );
}
