import type { ThreadTurn } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useEffect } from "react";
import { Waiting } from "../../../ui/chat/chat-parts.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { money, seconds } from "../../../ui/format.ts";
import { pretty } from "../../../ui/json.rules.ts";
import { TextLink } from "../../../ui/link.tsx";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Confirmation } from "../../runs/confirmation.tsx";
import { RunError } from "../../runs/run-result.tsx";
import { isOver } from "../../runs/run-status.tsx";
import { type FollowedRun, useRun } from "../../runs/use-run.ts";
import { turnOf } from "./thread-queries.ts";
import { callsOf, TurnSteps } from "./turn-steps.tsx";

interface TurnAnswerProps {
  agentId: string;
  turn: ThreadTurn;
}

/** The answer of a run that has ended. */
export function TurnAnswer({ agentId, turn }: TurnAnswerProps) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <span className="sr-only">Answer:</span>
      <TurnSteps runId={turn.run_id} />
      <Ended agentId={agentId} turn={turn} />
    </div>
  );
}

function Ended({ agentId, turn }: TurnAnswerProps) {
  const { output, error } = turn;
  return (
    <>
      {output && <Output output={output} />}
      {error?.type === "cancelled" && <p className="text-muted">Stopped.</p>}
      {error && error.type !== "cancelled" && <RunError run={{ agent_id: agentId }} error={error} />}
      <Figures turn={turn} />
    </>
  );
}

function Output({ output }: { output: Record<string, unknown> }) {
  const { text, ...rest } = output;
  if (typeof text !== "string" || Object.keys(rest).length > 0) {
    return <CodeBlock wrap label="Output" language="json" text={pretty(output)} />;
  }
  return text.trim() === "" ? <p className="text-muted">The answer is empty.</p> : <Markdown hasTools text={text} />;
}

function Figures({ turn: { run_id, cost, created_at, completed_at } }: { turn: ThreadTurn }) {
  const took = completed_at && (Date.parse(completed_at) - Date.parse(created_at)) / 1000;
  return (
    <p className="flex flex-wrap gap-x-3 text-muted text-xs tabular-nums">
      <span>Cost {money(cost)}</span>
      {took !== undefined && took !== "" && <span>{seconds(took)}</span>}
      <TextLink to="/runs/$runId" params={{ runId: run_id }}>
        View trace
      </TextLink>
    </p>
  );
}

/** The answer of a run under way, as it is written. Stays when the run ends, so that nothing on the page jumps. */
export function LiveTurnAnswer({ agentId, turn }: TurnAnswerProps) {
  const followed = useRun(turn.run_id);
  const { run, trace, pending, live } = followed;
  const queries = useQueryClient();
  const hasEnded = run.data !== undefined && isOver(run.data);
  useEffect(() => {
    if (!hasEnded) return;
    for (const changed of ["threads", "me", "usage", "expenses"]) {
      void queries.invalidateQueries({ queryKey: [changed] });
    }
  }, [hasEnded, queries]);
  return (
    <div className="flex min-w-0 flex-col gap-2" aria-busy={!hasEnded}>
      <span className="sr-only">Answer:</span>
      {trace.data && <TurnSteps runId={turn.run_id} trace={trace.data} />}
      {run.data && hasEnded ? (
        <Ended agentId={agentId} turn={turnOf(run.data)} />
      ) : run.isError ? (
        <Failure error={run.error} onRetry={() => void run.refetch()} />
      ) : (
        <>
          {pending.map((confirmation) => (
            <Confirmation key={confirmation.id} runId={turn.run_id} confirmation={confirmation} />
          ))}
          {live.failure !== undefined && <Failure error={live.failure} onRetry={live.retry} />}
          {pending.length === 0 && <Writing followed={followed} />}
        </>
      )}
    </div>
  );
}

function Writing({ followed: { run, trace, live } }: { followed: FollowedRun }) {
  const { text = "", reasoning = "" } = live.text ?? {};
  const { status, phase } = run.data ?? {};
  if (status === "pending" || phase === "queued") return <Busy text="Waiting for a free worker…" />;
  const tools = (trace.data ? callsOf(trace.data) : []).filter((step) => step.status === "running");
  const isWriting = trace.data?.steps.some(
    (step) => step.kind === "model" && step.status === "running" && step.prediction_id === live.text?.predictionId,
  );
  if (tools.length > 0 && !isWriting) {
    return <Busy text={`Running ${[...new Set(tools.map(({ name }) => name))].join(", ")}…`} />;
  }
  return (
    <>
      {reasoning !== "" && (
        <details open={text === ""}>
          <summary className="w-fit cursor-pointer rounded text-muted text-xs hover:text-ink">Reasoning</summary>
          <div className="mt-2 border-line border-l-2 pl-3 text-muted">
            <Markdown streaming text={reasoning} />
          </div>
        </details>
      )}
      {text !== "" && <Markdown streaming text={text} />}
      {text === "" && reasoning === "" && <Waiting />}
    </>
  );
}

function Busy({ text }: { text: string }) {
  return (
    <p role="status" className="flex items-center gap-2 text-muted">
      <LoaderCircle size={14} className="shrink-0 animate-spin" />
      {text}
    </p>
  );
}
