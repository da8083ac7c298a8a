import type { AgentSnapshot, TraceAnswer, TraceMessage, TraceToolCall } from "@gantry/wire";
import type { ChatMessage } from "../../../engines/models/chat.ts";
import type { Run, Step, StoredCall } from "../run.ts";
import { type EarlierTurns, earlierMessages, noEarlierTurns, visibleTurns } from "../threads/earlier-turns.rules.ts";
import { messagesOf, shortened } from "../work/conversation.rules.ts";
import { summaryPrompt, systemPrompt, turnsPrompt } from "../work/prompts.rules.ts";
import { shownCallId } from "../work/tool-calls.ts";
import type { ShownArguments } from "./step-store.ts";

interface SentCall {
  run: Pick<Run, "id" | "threadId">;
  /** Turns of the thread before the run. */
  earlier: EarlierTurns;
  snapshot: AgentSnapshot;
  goal: string;
  input: Readonly<Record<string, unknown>>;
  /** Undefined if the call did not become a step. */
  step: Step | undefined;
  /** Steps that the model knew. */
  before: readonly Step[];
  calls: readonly StoredCall[];
  shown: ShownArguments;
}

interface Sent {
  messages: TraceMessage[];
  /** The place of the goal. */
  goalAt: number;
}

/**
 * What the model was sent, rebuilt from stored steps. Results that were shortened for a small context window are whole
 * here. Arguments are as events show them.
 */
export function sentMessages({ run, earlier: all, snapshot, goal, input, step, before, calls, shown }: SentCall): Sent {
  const system = systemPrompt(snapshot, { isThread: run.threadId !== null });
  const earlier = visibleTurns(all, before);
  const until = step?.message.turns;
  if (until !== undefined) {
    const turns = earlier.turns.filter(({ runId }) => runId <= until);
    const messages: TraceMessage[] = [
      { role: "system", content: system },
      ...earlierMessages(turns).map(plainMessage),
      { role: "user", content: turnsPrompt(earlier.summary) },
    ];
    return { messages, goalAt: messages.length - 1 };
  }
  const covers = step?.kind === "summary" ? step.message.covers : undefined;
  const steps = covers === undefined ? before : before.filter(({ n, kind }) => n <= covers || kind === "summary");
  const messages = messagesOf({
    system,
    goal,
    input,
    images: [],
    // Their messages are not those of steps.
    earlier: { ...noEarlierTurns, summary: earlier.summary },
    steps,
    calls: calls.filter((call) => steps.some(({ n }) => n === call.step)),
    cutBefore: 0,
    window: 0,
  });
  const prompt = covers === undefined ? step?.prompt : summaryPrompt;
  const sent: ChatMessage[] = prompt == null ? messages : [...messages, { role: "user", content: prompt }];
  const idOfCall = new Map(calls.map((call) => [`${call.step} ${call.callId}`, shownCallId(run.id, call)]));
  const visible = sent.filter(({ role }) => role === "assistant");
  const numbers = assistantSteps(steps, visible.length);
  let at = -1;
  const shownMessages = sent.map((message): TraceMessage => {
    if (message.role === "assistant") {
      at++;
      const toolCalls = message.toolCalls.map((call): TraceToolCall => {
        const id = idOfCall.get(`${numbers[at]} ${call.id}`) ?? "";
        return { call_id: id, tool: call.name, arguments: shown.get(id) };
      });
      return { role: "assistant", content: message.text, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
    }
    const content = typeof message.content === "string" ? message.content : textOf(message.content);
    if (message.role !== "tool") return { role: message.role, content };
    return { role: "tool", content, tool: message.name, call_id: idOfCall.get(`${numbers[at]} ${message.callId}`) };
  });
  const inserted = earlierMessages(earlier.turns).map(plainMessage);
  return { messages: shownMessages.toSpliced(1, 0, ...inserted), goalAt: 1 + inserted.length };
}

/** Of an earlier turn. */
function plainMessage(message: ChatMessage): TraceMessage {
  if (message.role === "assistant") return { role: "assistant", content: message.text };
  return { role: "user", content: typeof message.content === "string" ? message.content : textOf(message.content) };
}

/** The steps of the assistant messages: the last ones, as older ones may be covered by a summary. */
function assistantSteps(steps: readonly Step[], count: number): number[] {
  const numbers = steps.filter(({ kind }) => kind !== "summary").map(({ n }) => n);
  return count === 0 ? [] : numbers.slice(-count);
}

function textOf(parts: Exclude<Extract<ChatMessage, { role: "user" }>["content"], string>): string {
  return parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

/** What the model answered, as its reader may see it. */
export function shownMessage(
  runId: string,
  { n, message }: Step,
  { isShown, reasoning, shown }: { isShown: boolean; reasoning: string; shown: ShownArguments },
): TraceAnswer {
  const toolCalls = message.toolCalls.map((call, position): TraceToolCall => {
    const id = shownCallId(runId, { step: n, position });
    return { call_id: id, tool: call.name, arguments: shown.get(id) };
  });
  return {
    text: isShown ? shortened(message.text, mostCharacters) : null,
    ...(reasoning !== "" && { reasoning: shortened(reasoning, mostCharacters) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(message.cutAtTokens !== undefined && { cut_at_tokens: message.cutAtTokens }),
  };
}

/** Of one text, and of all messages. */
const mostCharacters = 100_000;
const mostInAll = 1_000_000;

/** Shortens long texts, then leaves out the oldest messages, except the system prompt and the goal. */
export function boundedMessages({ messages, goalAt }: Sent): { messages: TraceMessage[]; omitted_messages: number } {
  const short = messages.map((message) => ({ ...message, content: shortened(message.content, mostCharacters) }));
  const always = (place: number) => place === 0 || place === goalAt;
  let left = mostInAll - sizeOf(short[0]) - sizeOf(short[goalAt]);
  let from = short.length;
  while (from > 0 && (always(from - 1) || left > sizeOf(short[from - 1]))) {
    from--;
    if (!always(from)) left -= sizeOf(short[from]);
  }
  const shown = short.filter((_, place) => place >= from || always(place));
  return { messages: shown, omitted_messages: short.length - shown.length };
}

function sizeOf(message: TraceMessage | undefined): number {
  return JSON.stringify(message).length;
}
