import type { TracedRun, TracedStep } from "./trace-store.ts";

/**
 * Whether the reader may see what the model wrote. Callers of other users' agents see no more than in events: plans,
 * summaries, text beside tool calls, and the output.
 */
export function isTextShown(
  run: Pick<TracedRun, "ownerId" | "userId" | "status">,
  { kind, hasCalls }: Pick<TracedStep, "kind" | "hasCalls">,
  isLast: boolean,
): boolean {
  if (run.ownerId === run.userId || kind === "plan" || kind === "summary" || hasCalls) return true;
  return isLast && run.status === "done";
}
