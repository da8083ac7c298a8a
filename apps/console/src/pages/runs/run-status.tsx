import type { RunRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export const isOver = ({ status }: Pick<RunRecord, "status">): boolean => status === "done" || status === "error";

/** How a run stands; that it waits for an answer is said before all else. */
export function RunStatusBadge({ run }: { run: Pick<RunRecord, "status" | "phase" | "error"> }) {
  if (run.phase === "awaiting_confirmation") return <Badge tone="warn">needs your answer</Badge>;
  if (run.status === "done") return <Badge tone="good">done</Badge>;
  if (run.status === "error") {
    return run.error?.type === "cancelled" ? <Badge>cancelled</Badge> : <Badge tone="bad">failed</Badge>;
  }
  if (run.status === "pending" || run.phase === "queued") return <Badge>waiting for a worker</Badge>;
  return <Badge tone="info">{run.phase}</Badge>;
}
