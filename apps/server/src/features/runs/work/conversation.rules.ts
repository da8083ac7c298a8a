import type { ChatMessage } from "../../../engines/models/chat.ts";
import type { SaidMessage, Step, StoredCall } from "../run.ts";
import { goalPrompt } from "./prompts.rules.ts";

/** Characters that are kept of a shortened result, and of the window for all results of one step together. */
const mostKept = 1000;
const leastKept = 120;
const windowPart = 0.45;
/** Of what is kept, at the beginning; the rest is its end, because errors stand there. */
const atStart = 0.6;
/** What would hardly become shorter stays whole. */
const worthIt = 200;

export interface Transcript {
  system: string;
  goal: string;
  input: Readonly<Record<string, unknown>>;
  steps: readonly Step[];
  calls: readonly StoredCall[];
  /** Results of steps before this one are shortened, and long texts that were handed to tools. */
  cutBefore: number;
  /** Of the model, in tokens. */
  window: number;
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
export function conversation({ system, goal, input, steps, calls, cutBefore, window }: Transcript): ChatMessage[] {
  const summary = lastSummary(steps)?.message;
  const messages: ChatMessage[] = [
    { role: "system", content: system },
    { role: "user", content: goalPrompt(goal, input, summary) },
  ];
  const byStep = Map.groupBy(calls, (call) => call.step);
  for (const step of visibleSteps(steps)) {
    const answered = byStep.get(step.n) ?? [];
    const isCut = step.n < cutBefore;
    const kept = Math.min(mostKept, Math.max(leastKept, Math.floor((window * windowPart) / (answered.length || 1))));
    if (step.prompt !== null) messages.push({ role: "user", content: step.prompt });
    messages.push({ role: "assistant", ...(isCut ? withShorterCalls(step.message, kept) : step.message) });
    for (const call of answered) {
      const content = isCut ? shortened(call.result ?? "", kept) : (call.result ?? "");
      messages.push({ role: "tool", callId: call.callId, name: call.tool, content, isError: call.isError ?? false });
    }
  }
  return messages;
}

/** Whole texts within the arguments are shortened, so that they stay the object that they were. */
function withShorterCalls(message: SaidMessage, kept: number): SaidMessage {
  const toolCalls = message.toolCalls.map((call) => ({
    ...call,
    arguments: shorterTexts(call.arguments, kept) as Record<string, unknown>,
  }));
  return { ...message, toolCalls };
}

function shorterTexts(value: unknown, kept: number): unknown {
  if (typeof value === "string") return shortened(value, kept);
  if (Array.isArray(value)) return value.map((one) => shorterTexts(one, kept));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shorterTexts(one, kept)]));
}

export function shortened(text: string, kept: number): string {
  const left = text.length - kept;
  if (left < worthIt) return text;
  const start = Math.ceil(kept * atStart);
  const end = text.slice(start - kept);
  return `${text.slice(0, start)}\n[… ${left} characters left out …]\n${end}`.toWellFormed();
}
