import { type ChatCall, type ChatMessage, type ChatTool, imagesIn, sentText } from "../../../engines/models/chat.ts";
import { tokensOfImage } from "../../predictions/index.ts";
import type { Step } from "../run.ts";
import type { NewEvent, SummaryRange } from "../run-writer.ts";
import { type MadeCall, messageOf } from "./ask-model.ts";
import { type Conversation, messagesOf, visibleSteps } from "./conversation.rules.ts";
import { summaryPrompt } from "./prompts.rules.ts";

/** The conversation is compressed above this part of the model's window. */
const fullAt = 0.8;
/** Part of the window for the input of a summary. */
const summaryInputPart = 0.6;
/** The last steps are not summarized: the model is working on them. */
const stepsKept = 2;
/** A lower bound for almost all text. */
const bytesPerToken = 2;

export type CountTokens = (text: string) => Promise<number>;

export type Shortening =
  | { kind: "none"; messages: ChatMessage[] }
  /** Results before this step are shortened. */
  | { kind: "results"; messages: ChatMessage[]; cutBefore: number; before: number; after: number }
  /** The model summarizes the steps up to this one. */
  | { kind: "summary"; covers: number; before: number };

/**
 * Keeps the conversation within the model's window: shortens long results of older steps, then those of the last steps if
 * these alone are too long, then summarizes older steps. Goal, input, schemas and stored data stay unchanged. `beside` is
 * the rest of the request: tools, schema, prompt.
 */
export async function shorten(
  conversation: Conversation,
  beside: string,
  countTokens: CountTokens,
): Promise<Shortening> {
  const { window } = conversation;
  const messages = messagesOf(conversation);
  const measure = (all: readonly ChatMessage[]) => tokensOf(all, beside, window, countTokens);
  const before = await measure(messages);
  const most = window * fullAt;
  if (before <= most) return { kind: "none", messages };
  const visible = visibleSteps(conversation.steps);
  const last = visible.at(-1)?.n ?? 0;
  const keptFrom = (visible.at(-stepsKept) ?? visible[0])?.n ?? 0;
  const older = visible.filter((step) => step.n < keptFrom).map(({ n }) => n);
  const cut = async (cutBefore: number) => {
    if (cutBefore <= conversation.cutBefore) return undefined;
    const shorter = messagesOf({ ...conversation, cutBefore });
    return { kind: "results" as const, messages: shorter, cutBefore, before, after: await measure(shorter) };
  };

  const olderCut = older.length > 0 ? await cut(keptFrom) : undefined;
  if (olderCut && olderCut.after <= most) return olderCut;
  // A summary of older steps does not help if the last steps alone are too long.
  const alone =
    older.length === 0 ? messages : messagesOf({ ...conversation, steps: without(conversation.steps, older) });
  const allCut = (await measure(alone)) > most ? await cut(last + 1) : undefined;
  if (allCut && allCut.after <= most) return allCut;
  const covers = older.at(-1);
  if (covers !== undefined) return { kind: "summary", covers, before };
  // No older steps are left. Text beyond the window would be refused, so it is summarized.
  if (last > 0 && (allCut?.after ?? before) > window) return { kind: "summary", covers: last, before };
  return last > 0 && allCut ? allCut : { kind: "none", messages };
}

function without(steps: readonly Step[], numbers: readonly number[]): Step[] {
  return steps.filter(({ n }) => !numbers.includes(n));
}

/** The input of a summary: the older steps, shortened until they fit. */
export async function summaryMessages(
  conversation: Conversation,
  covers: number,
  beside: string,
  countTokens: CountTokens,
): Promise<ChatMessage[]> {
  const { window } = conversation;
  const older = {
    ...conversation,
    steps: conversation.steps.filter((step) => step.n <= covers || step.kind === "summary"),
    calls: conversation.calls.filter((call) => call.step <= covers),
    cutBefore: covers + 1,
  };
  // The oldest steps are dropped first.
  for (let from = 0; ; from++) {
    const visible = visibleSteps(older.steps);
    const gone = visible.slice(0, from).map(({ n }) => n);
    const messages = messagesOf({ ...older, steps: without(older.steps, gone) });
    if (from >= visible.length - 1) return messages;
    if ((await tokensOf(messages, beside, window, countTokens)) <= window * summaryInputPart) return messages;
  }
}

/** Counts tokens only if the byte length is near the limit. */
async function tokensOf(
  messages: readonly ChatMessage[],
  beside: string,
  window: number,
  countTokens: CountTokens,
): Promise<number> {
  const texts = messages.map(sentText);
  texts.push(beside);
  const images = imagesIn(messages) * tokensOfImage;
  const rough = images + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytesPerToken;
  if (rough <= window * fullAt) return Math.ceil(rough);
  let sum = images;
  for (const text of texts) sum += await countTokens(text);
  return sum;
}

/** Largest part of the window for a summary. */
const summaryPart = 0.15;

export async function summaryCall(
  conversation: Conversation,
  { covers }: SummaryRange,
  tools: readonly ChatTool[],
  countTokens: CountTokens,
): Promise<Omit<ChatCall, "signal">> {
  const older = await summaryMessages(conversation, covers, JSON.stringify(tools), countTokens);
  return {
    messages: [...older, { role: "user", content: summaryPrompt }],
    maxTokens: Math.ceil(conversation.window * summaryPart),
    ...(tools.length > 0 && { tools, toolChoice: "none" }),
  };
}

export function summaryStep(
  called: MadeCall,
  { covers, before_tokens: before }: SummaryRange,
  steps: readonly Step[],
): { step: Step; events: NewEvent[] } {
  const summary = { ...messageOf(called, false), covers };
  const count = visibleSteps(steps).filter(({ n }) => n <= covers).length;
  const message = `${count} older steps were summarized; the conversation had about ${before} tokens.`;
  return {
    step: { n: steps.length + 1, kind: "summary", message: summary, prompt: null },
    events: [{ type: "compressed", data: { message, before_tokens: before, summary: called.answer.text } }],
  };
}
