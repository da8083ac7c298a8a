import { useQuery } from "@tanstack/react-query";
import { useLiveRun } from "./live/use-live-run.ts";
import { runConfirmationsQuery, runQuery, traceQuery } from "./run-queries.ts";
import { isOver } from "./run-status.tsx";

/** A run, its trace and its questions, kept up to date while it lasts. */
export function useRun(runId: string) {
  const run = useQuery(runQuery(runId));
  // Creators see of runs by others only that they took place.
  const mine = run.data?.usage ? run.data : undefined;
  const isMine = mine !== undefined;
  const isLive = isMine && !isOver(mine);
  const trace = useQuery({ ...traceQuery(runId), enabled: isMine });
  const confirmations = useQuery({ ...runConfirmationsQuery(runId, isLive), enabled: isLive });
  const pending = isLive ? (confirmations.data?.filter(({ status }) => status === "pending") ?? []) : [];
  return { run, trace, pending, live: useLiveRun(runId, isLive) };
}

export type FollowedRun = ReturnType<typeof useRun>;
