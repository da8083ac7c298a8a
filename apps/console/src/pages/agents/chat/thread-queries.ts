import { GantryError, type RunRecord, type ThreadTurn } from "@gantry/sdk";
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";

/** Other clients may continue the same thread. */
const refreshMs = 10_000;
const perPage = 30;

export const threadsQuery = (agentId: string) =>
  infiniteQueryOptions({
    queryKey: ["threads", "list", agentId],
    queryFn: ({ pageParam: offset, signal }) => api.threads.list({ agent_id: agentId, limit: perPage, offset, signal }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, limit, total }) => (offset + limit < total ? offset + limit : undefined),
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });

/** Pages go back in time: the first has the latest turns. */
export const threadQuery = (thread: string) =>
  infiniteQueryOptions({
    queryKey: ["threads", "one", thread],
    queryFn: ({ pageParam: before, signal }) => api.threads.get(thread, { before, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ has_more, turns }) => (has_more ? turns[0]?.run_id : undefined),
    refetchInterval: ({ state: { error } }) => (isMissing(error) ? false : refreshMs),
  });

export const isMissing = (error: unknown): boolean => error instanceof GantryError && error.status === 404;

/** A run that was just started, before its thread was read again. */
export const turnOf = (run: RunRecord): ThreadTurn => ({
  run_id: run.id,
  status: run.status,
  phase: run.phase,
  input: run.input ?? {},
  ...(run.output && { output: run.output }),
  ...(run.error && { error: run.error }),
  cost: run.cost ?? 0,
  created_at: run.created_at,
  ...(run.completed_at && { completed_at: run.completed_at }),
});
