import type { Caller } from "../../accounts/index.ts";
import { seesAgent } from "../seen-agent.rules.ts";
import type { TracedRun, TracedStep } from "./trace-store.ts";

/**
 * Whether the reader may see what the model wrote. Readers who do not see how the agent works see no more than in events:
 * plans, summaries, text beside tool calls, and the output.
 */
export function isTextShown(
  run: Pick<TracedRun, "ownerId" | "userId" | "status">,
  { kind, hasCalls }: Pick<TracedStep, "kind" | "hasCalls">,
  { isLast, reader }: { isLast: boolean; reader: Pick<Caller, "models"> },
): boolean {
  if (seesAgent(run, reader) || kind === "plan" || kind === "summary" || hasCalls) return true;
  return isLast && run.status === "done";
}
