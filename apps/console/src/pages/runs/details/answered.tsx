import type { ConfirmationRecord } from "@gantry/sdk";
import { Badge } from "../../../ui/badge.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { confirmationLabels } from "../run-status.tsx";

const tones = { pending: "warn", approved: "good", denied: "bad", expired: "bad" } as const;

/** What was answered to a question, and why. */
export function Answered({ confirmation }: { confirmation: ConfirmationRecord }) {
  const { status, reason, resolved_at, expires_at } = confirmation;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted">
      <Badge tone={tones[status]}>{confirmationLabels[status]}</Badge>
      {status === "pending" ? (
        <span>
          Denied automatically <Moment at={expires_at} />
        </span>
      ) : (
        resolved_at && <Moment at={resolved_at} />
      )}
      {reason && <span className="min-w-0 break-words text-ink">“{reason}”</span>}
    </p>
  );
}
