import type { TraceStep } from "@gantry/sdk";
import { Bot, Clock, Hand, type LucideIcon, Sparkles, Wrench } from "lucide-react";

/** Waiting is hatched: colour alone must not separate it from work. */
const hatched =
  "bg-[repeating-linear-gradient(135deg,var(--strong-line)_0_3px,transparent_3px_6px)] ring-1 ring-strong-line ring-inset";

interface Look {
  icon: LucideIcon;
  kind: string;
  bar: string;
}

export const stepLooks: Readonly<Record<TraceStep["kind"], Look>> = {
  queue: { icon: Clock, kind: "Queue", bar: hatched },
  model: { icon: Sparkles, kind: "Model call", bar: "bg-accent/75" },
  tool: { icon: Wrench, kind: "Tool call", bar: "bg-info/75" },
  agent: { icon: Bot, kind: "Sub-agent", bar: "bg-muted/50" },
  wait: { icon: Hand, kind: "Waiting", bar: hatched },
};

const purposes: Readonly<Record<NonNullable<TraceStep["purpose"]>, string>> = {
  planning: "Planning",
  working: "",
  formatting: "Formatting",
  compressing: "Summarizing",
};

/** Ordinary calls need no word. */
export const purposeLabel = ({ purpose }: TraceStep): string => (purpose ? purposes[purpose] : "");

export const barClass = ({ kind, status }: TraceStep): string =>
  status === "error" ? "bg-bad/75" : stepLooks[kind].bar;
