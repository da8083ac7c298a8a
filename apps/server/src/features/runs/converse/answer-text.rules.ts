import type { AgentSnapshot } from "@gantry/wire";
import type { Run, Step } from "../run.ts";
import { isCutText } from "../work/cut-answers.rules.ts";

type Snapshot = Pick<AgentSnapshot, "instructions" | "output_schema">;

/** What a follower sees of a call's text while it is written: the answer, thoughts, or nothing. */
export type TextRole = "answer" | "thought" | "none";

/**
 * Text that the run may replace later is not shown: answers that a schema may refuse, and the continuation of an answer
 * that was cut off, which may repeat its end. `last` is the last step before the call that is not a summary.
 */
export function textRole(snapshot: Snapshot, kind: Step["kind"], last: Pick<Step, "message"> | undefined): TextRole {
  if (kind === "plan") return "thought";
  if (kind === "summary" || snapshot.output_schema !== null) return "none";
  if (last && isCutText(last)) return "none";
  return kind === "work" && snapshot.instructions.formatting ? "thought" : "answer";
}

/** The output of a run as text. */
export function outputText(output: Run["output"]): string {
  const { text, ...more } = output ?? {};
  return typeof text === "string" && Object.keys(more).length === 0 ? text : JSON.stringify(output ?? {});
}

const beginsAsJson = /^\s*(?:$|\{|`{1,2}$|```[\w-]*\s*(?:$|\{))/;

/** Whether text that begins like this may become a JSON output, whose text differs from what the model wrote. */
export function mayBeJson(text: string): boolean {
  return beginsAsJson.test(text);
}
