import type { ChatMessage, ContentPart } from "../../../engines/models/chat.ts";
import type { ModelMessage, Step, StoredCall } from "../run.ts";
import { type EarlierTurns, earlierMessages } from "../threads/earlier-turns.rules.ts";
import { goalPrompt } from "./prompts.rules.ts";

/** Characters to keep of a shortened result, and the part of the window for all results of a step. */
const mostKept = 1000;
const leastKept = 120;
const windowPart = 0.45;
/** Part of the kept text from the beginning. The rest is the end, which often contains errors. */
const atStart = 0.6;
/** Shorten only if at least this many characters are saved. */
const minSaved = 200;

export interface Conversation {
  system: string;
  goal: string;
  input: Readonly<Record<string, unknown>>;
  /** Images of the input, which `input` only mentions. */
  images: readonly ContentPart[];
  /** Turns of the thread before the run. */
  earlier: EarlierTurns;
  steps: readonly Step[];
  calls: readonly StoredCall[];
  /** Results and long arguments before this step are shortened. */
  cutBefore: number;
  /** Context window of the model, in tokens. */
  window: number;
}

/** The last summary of steps. */
export function lastSummary(steps: readonly Step[]): Step | undefined {
  return steps.findLast(({ kind, message }) => kind === "summary" && message.turns === undefined);
}

/** Steps that are not covered by a summary. */
export function visibleSteps(steps: readonly Step[]): Step[] {
  const covered = lastSummary(steps)?.message.covers ?? 0;
  return steps.filter((step) => step.kind !== "summary" && step.n > covered);
}

/** Builds the messages for the model from stored steps. The same history gives the same messages on any node. */
export function messagesOf(conversation: Conversation): ChatMessage[] {
  const { system, goal, input, images, earlier, steps, calls, cutBefore, window } = conversation;
  const text = goalPrompt(goal, input, { earlier: earlier.summary, done: lastSummary(steps)?.message });
  const messages: ChatMessage[] = [
    { role: "system", content: system },
    ...earlierMessages(earlier.turns),
    { role: "user", content: images.length === 0 ? text : [{ type: "text", text }, ...images] },
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

/** Shortens strings inside the arguments, so that the structure stays. */
function withShorterCalls(message: ModelMessage, kept: number): ModelMessage {
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
  if (left < minSaved) return text;
  const start = Math.ceil(kept * atStart);
  const end = text.slice(start - kept);
  return `${text.slice(0, start)}\n[… ${left} characters left out …]\n${end}`.toWellFormed();
}
