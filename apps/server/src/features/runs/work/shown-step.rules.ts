import { type TextRole, textRole } from "../converse/answer-text.rules.ts";
import type { RunHistory, StepKind } from "../run.ts";
import { lastStep } from "./check-answer.ts";

/** The step that a call is for, and what the waiting client sees of its text. */
export interface ShownStep {
  step: number;
  role: TextRole;
}

/** Undefined if no client waits for the text of the run. */
export function shownStep(
  { run, snapshot, steps }: Pick<RunHistory, "run" | "snapshot" | "steps">,
  kind: StepKind,
): ShownStep | undefined {
  if (run.door === null || !run.isFollowed) return undefined;
  return { step: steps.length + 1, role: textRole(snapshot, kind, lastStep(steps)) };
}
