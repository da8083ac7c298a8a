import type { RunRecord } from "@gantry/sdk";
import { useTraceLink } from "../../shell/trace-link.tsx";
import { Detail } from "../../ui/detail.tsx";
import { count, elapsed, money, seconds } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { RunSource } from "./run-source.tsx";
import { isOver, RunStatusBadge } from "./run-status.tsx";
import { timesAfter } from "./trace/trace-times.rules.ts";
import { useAge } from "./trace/use-age.ts";

interface RunFactsProps {
  run: RunRecord;
  /** When it was read, in milliseconds. */
  readAt: number;
}

export function RunFacts({ run, readAt }: RunFactsProps) {
  const { usage, cost, earned, parent_run_id, source, thread_id, agent_id } = run;
  const trace = useTraceLink(run.trace_id);
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border border-line bg-panel p-4 sm:grid-cols-3 lg:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
      <Detail name="Status">
        <RunStatusBadge run={run} />
      </Detail>
      <Detail name="Time">
        <Times run={run} readAt={readAt} />
      </Detail>
      {usage && (
        <Detail name="Tokens (in / out)">
          <span className="tabular-nums">
            {count(usage.input_tokens)} / {count(usage.output_tokens)}
          </span>
          {usage.cached_tokens > 0 && (
            <span className="block text-muted text-xs">{count(usage.cached_tokens)} cached</span>
          )}
          {usage.cache_write_tokens > 0 && (
            <span className="block text-muted text-xs">{count(usage.cache_write_tokens)} written to cache</span>
          )}
        </Detail>
      )}
      {earned === undefined ? (
        <Detail name="Cost">
          <span className="tabular-nums">{money(cost ?? 0)}</span>
        </Detail>
      ) : (
        <Detail name="Earned">
          <span className="tabular-nums">{money(earned)}</span>
        </Detail>
      )}
      <Detail name="Started">
        <Moment at={run.created_at} />
      </Detail>
      {trace && <Detail name="Tracing">{trace}</Detail>}
      {parent_run_id && (
        <Detail name="Started by">
          <TextLink to="/runs/$runId" params={{ runId: parent_run_id }}>
            Parent run
          </TextLink>
        </Detail>
      )}
      {source && (
        <Detail name="Started by">
          <RunSource source={source} agentId={agent_id} />
        </Detail>
      )}
      {thread_id && (
        <Detail name="Thread">
          <TextLink to="/agents/$agentId/chat/{-$thread}" params={{ agentId: agent_id, thread: thread_id }}>
            Open chat
          </TextLink>
          {" · "}
          <TextLink to="/runs" search={{ thread: thread_id }}>
            All runs
          </TextLink>
        </Detail>
      )}
    </dl>
  );
}

/** A clock while the run lasts. Waiting for people is shown apart from work. */
function Times({ run, readAt }: RunFactsProps) {
  const isLive = !isOver(run);
  const { workedMs, waitedMs } = timesAfter(run, useAge(readAt, isLive));
  const text = (ms: number) => (isLive ? elapsed(ms / 1000) : seconds(ms / 1000));
  return (
    <>
      <span role={isLive ? "timer" : undefined} className="tabular-nums">
        {text(workedMs + waitedMs)}
      </span>
      {waitedMs >= 100 && (
        <span className="block text-muted text-xs tabular-nums">
          worked {text(workedMs)} · waited {text(waitedMs)}
        </span>
      )}
    </>
  );
}
