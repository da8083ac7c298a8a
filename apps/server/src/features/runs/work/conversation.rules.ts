import type { ChatMessage } from "../../../engines/models/chat.ts";
import type { Step, StoredCall } from "../run.ts";
import { goalPrompt } from "./prompts.rules.ts";

/** A shortened result keeps this much of its beginning and of its end: errors stand at the end. */
const keptAtStart = 600;
const keptAtEnd = 400;

export interface Told {
  system: string;
  goal: string;
  input: Readonly<Record<string, unknown>>;
  steps: readonly Step[];
  calls: readonly StoredCall[];
  /** Results of steps before this one are shortened. */
  cutBefore: number;
}

/** The last summary that counts, if the history was ever summed up. */
export function lastSummary(steps: readonly Step[]): Step | undefined {
  return steps.findLast((step) => step.kind === "summary");
}

/** Steps that the model still sees as they were. A summary is no part of the conversation, it stands for one. */
export function visibleSteps(steps: readonly Step[]): Step[] {
  const covered = lastSummary(steps)?.message.covers ?? 0;
  return steps.filter((step) => step.kind !== "summary" && step.n > covered);
}

/**
 * The conversation as the model gets it, rebuilt from what is stored: the same history gives the same messages, on any
 * node. A tool call and its result always stand together.
 */
export function conversation({ system, goal, input, steps, calls, cutBefore }: Told): ChatMessage[] {
  const summary = lastSummary(steps)?.message.text;
  const messages: ChatMessage[] = [
    { role: "system", content: system },
    { role: "user", content: goalPrompt(goal, input, summary) },
  ];
  const byStep = Map.groupBy(calls, (call) => call.step);
  for (const step of visibleSteps(steps)) {
    if (step.prompt !== null) messages.push({ role: "user", content: step.prompt });
    messages.push({ role: "assistant", ...step.message });
    for (const call of byStep.get(step.n) ?? []) {
      const content = step.n < cutBefore ? shortened(call.result ?? "") : (call.result ?? "");
      messages.push({ role: "tool", callId: call.callId, name: call.tool, content, isError: call.isError ?? false });
    }
  }
  return messages;
}

export function shortened(text: string): string {
  const left = text.length - keptAtStart - keptAtEnd;
  if (left < 200) return text;
  return `${text.slice(0, keptAtStart)}\n[… ${left} characters left out …]\n${text.slice(-keptAtEnd)}`.toWellFormed();
}
