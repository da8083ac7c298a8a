import type { Caller } from "../../accounts/index.ts";
import { type TextRole, textRole } from "../converse/answer-text.rules.ts";
import type { RunHistory, StepKind } from "../run.ts";
import { seesAgent } from "../seen-agent.rules.ts";
import { lastStep } from "./check-answer.ts";

/** The step that a call is for, and what readers see of its text while it is written. */
export interface ShownStep {
  step: number;
  role: TextRole;
  /** A client of a door waits for the text. */
  isAwaited: boolean;
}

/**
 * Readers who see how the agent works see all text. Others see no more than in events: of text that is formatted later,
 * events show nothing. `caller` is undefined if its key was revoked.
 */
export function shownStep(
  { run, snapshot, steps }: Pick<RunHistory, "run" | "snapshot" | "steps">,
  kind: StepKind,
  caller: Pick<Caller, "models"> | undefined,
): ShownStep {
  const step = steps.length + 1;
  const role = textRole(snapshot, kind, lastStep(steps));
  if (run.door !== null) return { step, role, isAwaited: run.isFollowed };
  if (caller && seesAgent(run, caller)) return { step, role: "answer", isAwaited: false };
  return { step, role: role === "thought" && kind !== "plan" ? "none" : role, isAwaited: false };
}
