import type { ConfirmationRecord, RunRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { Status } from "../../ui/status.tsx";

export const isOver = ({ status }: Pick<RunRecord, "status">): boolean => status === "done" || status === "error";

export const needsAnswer = "Needs your answer";

/** Phases of a run under way that say more than "Running". */
const phaseLabels: Partial<Record<RunRecord["phase"], string>> = {
  planning: "Planning",
  formatting: "Formatting",
};

export const confirmationLabels: Record<ConfirmationRecord["status"], string> = {
  pending: needsAnswer,
  approved: "Approved",
  denied: "Denied",
  expired: "Expired",
};

export function RunStatusBadge({ run }: { run: Pick<RunRecord, "status" | "phase" | "error"> }) {
  const { status, phase, error } = run;
  if (isOver(run)) return <Status status={status} code={error?.type} />;
  if (phase === "awaiting_confirmation") return <Badge tone="warn">{needsAnswer}</Badge>;
  if (status === "pending" || phase === "queued") return <Status status="waiting" />;
  const label = phaseLabels[phase];
  return label ? <Badge tone="info">{label}</Badge> : <Status status="running" />;
}
