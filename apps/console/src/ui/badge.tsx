import type { ReactNode } from "react";
import type { Tone } from "./toast.ts";

const tones: Record<Tone, string> = {
  plain: "bg-sunken text-muted",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  info: "bg-info-soft text-info",
};

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center whitespace-nowrap rounded px-1.5 py-0.5 font-medium text-xs ${tones[tone]}`}
    >
      {children}
    </span>
  );
}

/** Shows the HTTP status of a prediction as a word. */
export function StatusBadge({ status }: { status: number }) {
  if (status === 200) return <Badge tone="good">Done</Badge>;
  if (status === 202) return <Badge tone="info">Running</Badge>;
  if (status === 499) return <Badge>Cancelled</Badge>;
  return (
    <span title={`HTTP ${status}`}>
      <Badge tone="bad">{failureLabel(status)}</Badge>
    </span>
  );
}

function failureLabel(status: number): string {
  if (status === 504) return "Timed out";
  return status < 500 ? "Rejected" : "Failed";
}
