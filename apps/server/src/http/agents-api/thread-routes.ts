import type { ThreadRecord, ThreadTurn as TurnRecord } from "@gantry/wire";
import { agentsOperations as operations } from "@gantry/wire/operations";
import type { ShownThread, Threads, ThreadTurn } from "../../features/runs/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

/** Listing, reading and deleting conversations with agents. Runs create them. */
export function threadRoutes(threads: Threads): AgentsRoutes {
  return (app) => {
    route(app, operations.listThreads, async ({ caller, query }) => {
      const { limit, offset, agent_id: agentId } = query;
      const { entries, total } = await threads.list(caller, { limit, offset, agentId });
      return { threads: entries.map(threadRecord), total, limit, offset };
    });

    route(app, operations.readThread, async ({ caller, params, query }) => {
      const { thread, turns, hasMore } = await threads.read(caller, params.thread_id, query.before);
      return { ...threadRecord(thread), turns: turns.map(turnRecord), has_more: hasMore };
    });

    route(app, operations.deleteThread, async ({ caller, params }) => {
      await threads.delete(caller, params.thread_id);
    });
  };
}

export function threadRecord(thread: ShownThread): ThreadRecord {
  return {
    id: thread.id,
    agent_id: thread.agentId,
    agent_name: thread.agentName,
    title: thread.title,
    runs: thread.runs,
    last_run_id: thread.lastRunId,
    last_status: thread.lastStatus,
    created_at: thread.createdAt.toISOString(),
    updated_at: thread.updatedAt.toISOString(),
    expires_at: thread.expiresAt?.toISOString() ?? null,
  };
}

function turnRecord({
  runId,
  status,
  phase,
  input,
  output,
  error,
  cost,
  createdAt,
  completedAt,
}: ThreadTurn): TurnRecord {
  return {
    run_id: runId,
    status,
    phase,
    input,
    ...(output && { output }),
    ...(error && { error }),
    cost: dollarsOfMicros(cost),
    created_at: createdAt.toISOString(),
    ...(completedAt && { completed_at: completedAt.toISOString() }),
  };
}
