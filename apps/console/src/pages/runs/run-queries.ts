import type { RunFilter, TraceStep } from "@gantry/sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { isOver } from "./run-status.tsx";

export const runsQuery = (page: number, filter: RunFilter) =>
  queryOptions({
    queryKey: ["runs", "page", { page, ...filter }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { runs: rows, total } = await api.runs.list({ ...filter, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });

/** Events of a live run refresh these; the interval covers what has no event, such as a call of a sub-agent. */
const betweenEventsMs = 4_000;

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", "one", runId],
    queryFn: ({ signal }) => api.runs.get(runId, { signal }),
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) ? betweenEventsMs : false),
  });

export const traceQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", "trace", runId],
    queryFn: ({ signal }) => api.runs.trace(runId, { signal }),
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) ? betweenEventsMs : false),
  });

/** `status`: a step that has changed is read again. */
export const stepQuery = (runId: string, { id, status }: Pick<TraceStep, "id" | "status">) =>
  queryOptions({
    queryKey: ["run-steps", { runId, id, status }],
    queryFn: ({ signal }) => api.runs.traceStep(runId, id, { signal }),
    staleTime: status === "running" || status === "waiting" ? 5_000 : Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });

export const runConfirmationsQuery = (runId: string, isLive: boolean) =>
  queryOptions({
    queryKey: ["runs", "confirmations", runId],
    queryFn: ({ signal }) => api.runs.confirmations.list(runId, { signal }),
    refetchInterval: isLive ? betweenEventsMs : false,
  });
