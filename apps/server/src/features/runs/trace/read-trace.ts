import { mostTraceSteps, type RunTrace, type TraceStep } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import { dollarsOfMicros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import type { RunsContext } from "../context.ts";
import { readOwnRun } from "../read-runs.ts";
import type { Run } from "../run.ts";
import { type RunAgent, readRunAgents, type TracedAgent } from "../run-names.ts";
import { attemptIds } from "../tools/run-model.ts";
import { readTimes } from "./read-times.ts";
import { callStepId, isOver, traceSteps } from "./trace-steps.rules.ts";
import {
  listTracedCalls,
  listTracedPredictions,
  listTracedRuns,
  listTracedSteps,
  type TracedCall,
  type TracedRun,
} from "./trace-store.ts";

/** The trace of a run for its caller, from what is stored. A fixed number of queries. */
export async function readTrace(context: RunsContext, caller: Caller, runId: string): Promise<RunTrace> {
  const { sql } = context.database;
  const run = await readOwnRun(context, caller, runId);
  const [{ steps, isWhole, agents }, times] = await Promise.all([
    collectSteps(sql, caller, run),
    readTimes(sql, [run], context.clock.now()),
  ]);
  const { workedMs, waitedMs } = times.get(run.id) ?? { workedMs: 0, waitedMs: 0 };
  return {
    run_id: run.id,
    root_run_id: run.ancestors[0] ?? run.id,
    agent: agentOf(agents, run),
    status: run.status,
    phase: run.phase,
    created_at: run.createdAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    completed_at: run.completedAt?.toISOString() ?? null,
    worked_ms: workedMs,
    waited_ms: waitedMs,
    usage: {
      input_tokens: run.inputTokens,
      output_tokens: run.outputTokens,
      cached_tokens: run.cachedTokens,
      cache_write_tokens: run.cacheWriteTokens,
    },
    cost: dollarsOfMicros(run.cost),
    steps: steps.slice(0, mostTraceSteps),
    truncated: !isWhole,
  };
}

export function agentOf(agents: CollectedSteps["agents"], { id, agentId }: Pick<Run, "id" | "agentId">): RunAgent {
  const { name, slug } = agents.get(id) ?? { name: agentId, slug: null };
  return { id: agentId, name, slug };
}

export interface CollectedSteps {
  runs: readonly TracedRun[];
  steps: readonly TraceStep[];
  isWhole: boolean;
  agents: ReadonlyMap<string, TracedAgent>;
}

export async function collectSteps(
  sql: Sql,
  reader: Pick<Caller, "models">,
  run: Pick<Run, "id" | "ancestors" | "userId">,
): Promise<CollectedSteps> {
  const found = await listTracedRuns(sql, run);
  // The run of the trace comes first, whatever the clocks of nodes say.
  const runs = found.toSorted((a, b) => Number(b.id === run.id) - Number(a.id === run.id));
  const ids = runs.map(({ id }) => id);
  const [steps, calls, agents] = await Promise.all([
    listTracedSteps(sql, ids),
    listTracedCalls(sql, ids),
    readRunAgents(sql, ids, run.userId),
  ]);
  const attempts = new Map(calls.filter(isModelCall).map((call) => [call, attemptIds(call.runId, callStepId(call))]));
  const underWay = runs.flatMap((one) => (one.callId === null || isOver(one) ? [] : one.callId));
  const ofTools = [...attempts.values()].flat();
  const predictions = await listTracedPredictions(sql, ids, { ofTools, underWay });
  const traced = traceSteps({
    reader,
    runs,
    steps,
    calls,
    predictions: new Map(predictions.map((one) => [one.id, one])),
    agents,
    attemptsOf: (call) => attempts.get(call) ?? [],
  });
  const isWhole = [runs, steps, calls, traced].every(({ length }) => length <= mostTraceSteps);
  return { runs, steps: traced, isWhole, agents };
}

function isModelCall({ tool, kind }: TracedCall): boolean {
  return tool === "run_model" && kind === "read";
}
