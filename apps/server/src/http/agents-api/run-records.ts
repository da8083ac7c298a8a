import {
  type ConfirmationRecord,
  type InboxConfirmation,
  isId,
  type RunEventEntry,
  type RunRecord,
  type TraceStepDetail,
} from "@gantry/wire";
import type { Confirmation, InboxEntry, Run, RunEvent, ShownRun, StepDetail } from "../../features/runs/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { recordedTrace } from "../../kernel/recorded-trace.ts";

export function runRecord({ run, as, agent, times }: ShownRun): RunRecord {
  const isDone = run.status === "done";
  const traceId = recordedTrace(run.trace);
  const shared = {
    id: run.id,
    agent_id: run.agentId,
    agent_name: agent.name,
    revision_id: run.revisionId,
    status: run.status,
    phase: run.phase,
    // Only the caller sees which runs belong together.
    parent_run_id: as === "caller" ? (run.ancestors.at(-1) ?? null) : null,
    ...(isDone && { duration_ms: durationOf(run) }),
    worked_ms: times.workedMs,
    waited_ms: times.waitedMs,
    created_at: run.createdAt.toISOString(),
    ...(run.completedAt && { completed_at: run.completedAt.toISOString() }),
  };
  if (as === "creator") return { ...shared, earned: dollarsOfMicros(isDone ? run.price : 0) };
  return {
    ...shared,
    ...(run.threadId !== null && { thread_id: run.threadId }),
    ...(run.sourceId !== null && { source: sourceOf(run.sourceId) }),
    input: { ...run.input },
    ...(run.output && { output: { ...run.output } }),
    ...(run.error && { error: run.error }),
    usage: {
      input_tokens: run.inputTokens,
      output_tokens: run.outputTokens,
      cached_tokens: run.cachedTokens,
      cache_write_tokens: run.cacheWriteTokens,
    },
    cost: dollarsOfMicros(run.cost),
    ...(traceId !== undefined && { trace_id: traceId }),
  };
}

function sourceOf(id: string): NonNullable<RunRecord["source"]> {
  return { type: isId("schedule", id) ? "schedule" : "trigger", id };
}

/** Not negative: the clock may have been set back. */
function durationOf({ startedAt, createdAt, completedAt }: Run): number {
  return Math.max(0, (completedAt?.getTime() ?? 0) - (startedAt ?? createdAt).getTime());
}

export function eventRecord({ type, data, createdAt }: RunEvent, run: Run): RunEventEntry {
  const base = { type, timestamp: createdAt.toISOString() };
  if (type === "error") return { ...base, error: data } as RunEventEntry;
  if (type === "completed")
    return { ...base, message: `The run finished in ${run.steps} steps, ${durationOf(run)} ms.` } as RunEventEntry;
  // Events are stored as the wire schema has them.
  return { ...base, ...data } as RunEventEntry;
}

export function confirmationRecord(confirmation: Confirmation): ConfirmationRecord {
  const { id, runId, agent, tool, details, status, reason, createdAt, expiresAt, resolvedAt } = confirmation;
  return {
    id,
    run_id: runId,
    agent: { id: agent.id, name: agent.name },
    tool,
    arguments: confirmation.arguments,
    ...(details && { details }),
    status,
    ...(reason !== null && { reason }),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ...(resolvedAt && { resolved_at: resolvedAt.toISOString() }),
  };
}

export function inboxRecord(confirmation: InboxEntry): InboxConfirmation {
  const { rootRunId, rootAgent } = confirmation;
  return {
    ...confirmationRecord(confirmation),
    root_run_id: rootRunId,
    root_agent: { id: rootAgent.id, name: rootAgent.name },
  };
}

export function stepRecord({ confirmation, ...step }: StepDetail): TraceStepDetail {
  return { ...step, ...(confirmation && { confirmation: confirmationRecord(confirmation) }) };
}
