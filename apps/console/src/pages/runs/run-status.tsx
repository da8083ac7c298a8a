import type { ConfirmationRecord, RunRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export const isOver = ({ status }: Pick<RunRecord, "status">): boolean => status === "done" || status === "error";

const phaseLabels: Record<RunRecord["phase"], string> = {
  queued: "Queued",
  planning: "Planning",
  working: "Running",
  awaiting_confirmation: "Needs approval",
  formatting: "Formatting",
  ended: "Finished",
};

export const confirmationLabels: Record<ConfirmationRecord["status"], string> = {
  pending: phaseLabels.awaiting_confirmation,
  approved: "Approved",
  denied: "Denied",
  expired: "Expired",
};

export function RunStatusBadge({ run }: { run: Pick<RunRecord, "status" | "phase" | "error"> }) {
  if (run.phase === "awaiting_confirmation") return <Badge tone="warn">{phaseLabels[run.phase]}</Badge>;
  if (run.status === "done") return <Badge tone="good">Done</Badge>;
  if (run.status === "error") {
    return run.error?.type === "cancelled" ? <Badge>Cancelled</Badge> : <Badge tone="bad">Failed</Badge>;
  }
  if (run.status === "pending" || run.phase === "queued") return <Badge>{phaseLabels.queued}</Badge>;
  return <Badge tone="info">{phaseLabels[run.phase]}</Badge>;
}
