import { mostSummaryCharacters, type TracePurpose, type TraceStep, type TraceStepStatus } from "@gantry/wire";
import { dollarsOfMicros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import type { StepKind } from "../run.ts";
import type { TracedAgent } from "../run-names.ts";
import { seesAgent } from "../seen-agent.rules.ts";
import { shownCallId } from "../work/tool-calls.ts";
import { isTextShown } from "./shown-text.rules.ts";
import type { TracedCall, TracedPrediction, TracedRun, TracedStep } from "./trace-store.ts";

/** Everything that a trace is made of. */
export interface TraceSource {
  /** A key of the runs' caller. */
  reader: Pick<Caller, "models">;
  /** The run of the trace comes first. */
  runs: readonly TracedRun[];
  steps: readonly TracedStep[];
  calls: readonly TracedCall[];
  /** By id. */
  predictions: ReadonlyMap<string, TracedPrediction>;
  /** By run. */
  agents: ReadonlyMap<string, TracedAgent>;
  /** Ids of predictions that a call of `run_model` may have made, in order. */
  attemptsOf(call: TracedCall): readonly string[];
}

/** A step with the time by which it is sorted: it may not have started. */
interface Placed {
  at: number;
  step: TraceStep;
}

/** The steps of a trace in order of start. The reader is the caller of the run. */
export function traceSteps(source: TraceSource): TraceStep[] {
  const byRun = Map.groupBy(source.steps, ({ runId }) => runId);
  const placed = source.runs.flatMap((run) => [
    queueStep(run, parentOf(source, run)),
    ...modelSteps(source, run, byRun.get(run.id) ?? []),
  ]);
  const runs = new Map(source.runs.map((run) => [run.id, run]));
  for (const call of source.calls) {
    const run = runs.get(call.runId);
    if (!run) continue;
    placed.push(callStep(source, run, call, runs.get(call.childId ?? "")));
    if (call.confirmationId !== null) placed.push(waitStep(source, run, call, call.confirmationId));
  }
  return placed.sort((a, b) => a.at - b.at).map(({ step }) => step);
}

/** The id of a tool call's step. */
export function callStepId({ runId, step, position }: Pick<TracedCall, "runId" | "step" | "position">): string {
  return `${runId}-${step}-${position}`;
}

export const queueStepId = (runId: string): string => `${runId}-q`;

export const isOver = ({ status }: Pick<TracedRun, "status">): boolean => status === "done" || status === "error";

/** The step of the call that started the run; null for the run of the trace. */
function parentOf({ runs }: TraceSource, run: TracedRun): string | null {
  const runId = run.ancestors.at(-1);
  if (run.id === runs[0]?.id || runId === undefined || run.parentStep === null) return null;
  return callStepId({ runId, step: run.parentStep, position: run.parentPosition ?? 0 });
}

function times(startedAt: Date | null, endedAt: Date | null) {
  // The clock may have been set back.
  const duration = startedAt && endedAt ? Math.max(0, endedAt.getTime() - startedAt.getTime()) : null;
  return {
    started_at: startedAt?.toISOString() ?? null,
    ended_at: endedAt?.toISOString() ?? null,
    duration_ms: duration,
  };
}

function queueStep(run: TracedRun, parentId: string | null): Placed {
  const endedAt = run.startedAt ?? run.completedAt;
  const status = run.startedAt ? "done" : isOver(run) ? "cancelled" : "waiting";
  return {
    at: run.createdAt.getTime(),
    step: {
      id: queueStepId(run.id),
      parent_id: parentId,
      run_id: run.id,
      kind: "queue",
      name: "Queue",
      status,
      ...times(run.createdAt, endedAt),
      summary: null,
    },
  };
}

const purposes: Record<StepKind, TracePurpose> = {
  plan: "planning",
  work: "working",
  format: "formatting",
  summary: "compressing",
};

/** Stored steps, and calls that did not become one: failed ones and the one under way. */
function modelSteps(source: TraceSource, run: TracedRun, steps: readonly TracedStep[]): Placed[] {
  const parentId = parentOf(source, run);
  const stored = new Set(steps.map(({ predictionId }) => predictionId));
  const others = source.predictions
    .values()
    .filter((prediction) => prediction.runId === run.id && !stored.has(prediction.id));
  const last = steps.findLast(({ kind }) => kind !== "summary");
  return [
    ...steps.map((step) => storedModelStep(source, run, step, parentId, step === last)),
    ...others.map((prediction) => otherModelStep(source, run, prediction, parentId)),
  ];
}

function storedModelStep(
  source: TraceSource,
  run: TracedRun,
  step: TracedStep,
  parentId: string | null,
  isLast: boolean,
): Placed {
  const prediction = source.predictions.get(step.predictionId);
  const startedAt = prediction?.createdAt ?? null;
  const endedAt = prediction?.endedAt ?? step.createdAt;
  const isShown = isTextShown(run, step, { isLast, reader: source.reader });
  return {
    at: (startedAt ?? step.createdAt).getTime(),
    step: {
      ...modelStep(run, step.predictionId, prediction, parentId),
      name: modelName(source, run, prediction),
      purpose: purposes[step.kind],
      status: "done",
      ...times(startedAt, endedAt),
      ...(step.firstTokenMs !== null && { first_token_ms: step.firstTokenMs }),
      usage: {
        input_tokens: step.inputTokens,
        output_tokens: step.outputTokens,
        cached_tokens: step.cachedTokens,
        cache_write_tokens: step.cacheWriteTokens,
      },
      cost: dollarsOfMicros(step.cost),
      summary: isShown && step.text !== "" ? step.text : null,
    },
  };
}

function modelStep(
  run: TracedRun,
  predictionId: string,
  prediction: TracedPrediction | undefined,
  parentId: string | null,
) {
  const queued = prediction?.startedAt && prediction.startedAt.getTime() - prediction.createdAt.getTime();
  // A prediction that the creator paid for is not the reader's.
  const isOwn = prediction === undefined || prediction.userId === run.userId;
  return {
    id: predictionId,
    parent_id: parentId,
    run_id: run.id,
    kind: "model" as const,
    ...(queued !== null && queued !== undefined && { queued_ms: Math.max(0, queued) }),
    ...(isOwn && { prediction_id: predictionId }),
  };
}

/** Without a prediction, only the name that the agent calls is known. A caller does not see models that the creator pays for. */
function modelName({ agents, reader }: TraceSource, run: TracedRun, prediction?: TracedPrediction): string {
  if (prediction?.userId !== run.userId && !seesAgent(run, reader)) return "Model";
  return prediction?.modelName ?? agents.get(run.id)?.model ?? "Model";
}

const cancelledStatus = 499;
const lostSummary = "The server stopped during the call. The call was repeated.";

function otherModelStep(
  source: TraceSource,
  run: TracedRun,
  prediction: TracedPrediction,
  parentId: string | null,
): Placed {
  const { id, status, createdAt, endedAt } = prediction;
  const isOwn = prediction.userId === run.userId;
  const isNext = id === run.callId && !isOver(run);
  const isUnstarted = status === null && prediction.startedAt === null;
  // The run went on, so the call was not cancelled: its node died.
  const isLost = status === cancelledStatus && run.status !== "error";
  const isCancelled = status === cancelledStatus && !isLost;
  const ended: TraceStepStatus = status === 200 ? "done" : isCancelled ? "cancelled" : "error";
  const live: TraceStepStatus = isUnstarted ? "waiting" : "running";
  return {
    at: createdAt.getTime(),
    step: {
      ...modelStep(run, id, prediction, parentId),
      name: modelName(source, run, prediction),
      ...(isNext && { purpose: nextPurpose(run) }),
      status: status === null ? (isOver(run) ? "cancelled" : live) : ended,
      ...times(createdAt, endedAt),
      ...usageOf(prediction),
      ...(status !== null && { cost: isOwn ? dollarsOfMicros(prediction.price) : 0 }),
      summary: isLost ? lostSummary : isOwn ? prediction.error : null,
    },
  };
}

function nextPurpose({ callId, summingUp, phase }: TracedRun): TracePurpose {
  if (summingUp?.call_id === callId) return "compressing";
  return phase === "planning" || phase === "formatting" ? phase : "working";
}

function usageOf(
  used: Pick<TracedPrediction, "inputTokens" | "outputTokens" | "cachedTokens" | "cacheWriteTokens">,
): Pick<TraceStep, "usage"> {
  if (used.inputTokens === null) return {};
  return {
    usage: {
      input_tokens: used.inputTokens,
      output_tokens: used.outputTokens ?? 0,
      cached_tokens: used.cachedTokens ?? 0,
      cache_write_tokens: used.cacheWriteTokens,
    },
  };
}

function callStep(source: TraceSource, run: TracedRun, call: TracedCall, child: TracedRun | undefined): Placed {
  const isAgent = call.kind === "agent";
  const isOpen = call.status !== "ended";
  const endedAt = isOpen && isOver(run) ? run.completedAt : call.endedAt;
  // A refused call took no time.
  const startedAt = call.kind === "none" ? call.endedAt : call.startedAt;
  const named = isAgent && child ? source.agents.get(child.id)?.name : undefined;
  return {
    at: (startedAt ?? call.askedAt ?? call.wantedAt).getTime(),
    step: {
      id: callStepId(call),
      parent_id: parentOf(source, run),
      run_id: run.id,
      kind: isAgent ? "agent" : "tool",
      name: named ?? call.tool,
      status: callStatus(run, call, child),
      ...times(startedAt, endedAt),
      ...(child ? { ...usageOf(child), cost: dollarsOfMicros(child.cost) } : predictionOf(source, run, call)),
      call_id: shownCallId(run.id, call),
      ...(child && { child_run_id: child.id }),
      ...(call.confirmationId !== null && { confirmation_id: call.confirmationId }),
      summary: call.result,
    },
  };
}

function callStatus(run: TracedRun, call: TracedCall, child: TracedRun | undefined): TraceStepStatus {
  if (call.status !== "ended") {
    if (isOver(run)) return "cancelled";
    return call.status === "asking" ? "waiting" : "running";
  }
  if (call.answer === "denied" || call.answer === "expired") return "denied";
  if (child?.errorType === "cancelled") return "cancelled";
  return call.isError ? "error" : "done";
}

/** The prediction of a call of `run_model`: its last attempt. */
function predictionOf(source: TraceSource, run: TracedRun, call: TracedCall): Partial<TraceStep> {
  const id = source.attemptsOf(call).findLast((attempt) => source.predictions.has(attempt));
  const prediction = source.predictions.get(id ?? "");
  if (!prediction || prediction.userId !== run.userId) return {};
  const cost = prediction.status === null ? {} : { cost: dollarsOfMicros(prediction.price) };
  return { prediction_id: prediction.id, ...usageOf(prediction), ...cost };
}

function waitStep(source: TraceSource, run: TracedRun, call: TracedCall, id: string): Placed {
  const askedAt = call.askedAt ?? call.wantedAt;
  const reason = call.answerReason === null ? "" : `: ${call.answerReason}`;
  return {
    at: askedAt.getTime(),
    step: {
      id,
      parent_id: parentOf(source, run),
      run_id: run.id,
      kind: "wait",
      name: "Waiting for approval",
      status: waitStatus(run, call),
      ...times(askedAt, call.resolvedAt),
      call_id: shownCallId(run.id, call),
      confirmation_id: id,
      summary: `${call.tool}${reason}`.slice(0, mostSummaryCharacters),
    },
  };
}

function waitStatus(run: TracedRun, { answer, status }: TracedCall): TraceStepStatus {
  if (answer === "pending") return "waiting";
  if (answer === "approved") return "done";
  // The end of a run expires its confirmations, and the call stays open.
  return answer === "expired" && status === "asking" && isOver(run) ? "cancelled" : "denied";
}
