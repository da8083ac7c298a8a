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

/** The HTTP status of a prediction, in words. */
export function StatusBadge({ status }: { status: number }) {
  if (status === 200) return <Badge tone="good">done</Badge>;
  if (status === 202) return <Badge tone="info">running</Badge>;
  if (status === 499) return <Badge>cancelled</Badge>;
  return <Badge tone="bad">{status}</Badge>;
}
