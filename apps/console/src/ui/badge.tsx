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
