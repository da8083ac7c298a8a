import { type ChatCall, type ChatMessage, type ChatTool, imagesIn, sentText } from "../../../engines/models/chat.ts";
import { tokensOfImage } from "../../predictions/index.ts";
import type { Step } from "../run.ts";
import type { NewEvent, SummaryRange } from "../run-writer.ts";
import { type EarlierTurn, earlierMessages } from "../threads/earlier-turns.rules.ts";
import { type MadeCall, messageOf } from "./ask-model.ts";
import { type Conversation, messagesOf, shortened, visibleSteps } from "./conversation.rules.ts";
import { summaryPrompt, turnsPrompt } from "./prompts.rules.ts";

/** The conversation is compressed above this part of the model's window. */
const fullAt = 0.8;
/** Part of the window for the input of a summary. */
const summaryInputPart = 0.6;
/** The last steps are not summarized: the model is working on them. */
const stepsKept = 2;
/** Part of the window for the newest earlier turns, which are not summarized. */
const turnsPart = 0.25;
/** A lower bound for almost all text. */
const bytesPerToken = 2;

export type CountTokens = (text: string) => Promise<number>;

export type Shortening =
  | { kind: "none"; messages: ChatMessage[] }
  /** Results before this step are shortened. */
  | { kind: "results"; messages: ChatMessage[]; cutBefore: number; before: number; after: number }
  /** The model summarizes the steps up to this one, or the earlier turns up to this run. */
  | { kind: "summary"; range: SummaryRange };

/**
 * Keeps the conversation within the model's window: summarizes earlier turns, except the newest; shortens long results of
 * older steps, then those of the last steps if these alone are too long; then summarizes older steps. Goal, input, schemas and stored data stay unchanged. `beside` is
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
  const summaryOf = (range: Omit<SummaryRange, "before_tokens">): Shortening => ({
    kind: "summary",
    range: { ...range, before_tokens: before },
  });
  const { turns } = conversation.earlier;
  const oldTurn = await lastBeyond(turns, window * turnsPart, countTokens);
  if (oldTurn !== undefined) return summaryOf({ covers: 0, turns: oldTurn });
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
  if (covers !== undefined) return summaryOf({ covers });
  // No older steps are left. Text beyond the window would be refused, so it is summarized.
  if (last > 0 && (allCut?.after ?? before) > window) return summaryOf({ covers: last });
  const lastTurn = turns.at(-1)?.runId;
  if (lastTurn !== undefined) return summaryOf({ covers: 0, turns: lastTurn });
  return last > 0 && allCut ? allCut : { kind: "none", messages };
}

/** The last turn that does not fit into so many tokens together with all newer ones. */
async function lastBeyond(
  turns: readonly EarlierTurn[],
  tokens: number,
  countTokens: CountTokens,
): Promise<string | undefined> {
  let left = tokens;
  for (const { runId, input, answer } of turns.toReversed()) {
    left -= await countTokens(`${input}\n${answer}`);
    if (left < 0) return runId;
  }
  return undefined;
}

export function shortenedEvent({ before, after }: { before: number; after: number }): NewEvent {
  const message = `Older results were shortened: about ${before} tokens became ${after}.`;
  return { type: "compressed", data: { message, before_tokens: before, after_tokens: after } };
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
  { covers, turns }: SummaryRange,
  tools: readonly ChatTool[],
  countTokens: CountTokens,
): Promise<Omit<ChatCall, "signal">> {
  if (turns !== undefined) return turnsCall(conversation, turns, countTokens);
  const older = await summaryMessages(conversation, covers, JSON.stringify(tools), countTokens);
  return {
    messages: [...older, { role: "user", content: summaryPrompt }],
    maxTokens: Math.ceil(conversation.window * summaryPart),
    ...(tools.length > 0 && { tools, toolChoice: "none" }),
  };
}

/** Part of the window for the input of a summary of turns, and characters of a text that is always kept. */
const turnsInputPart = 0.8;
const leastText = 120;

/** Summarizes earlier turns. If they do not fit, their texts are shortened; then the oldest turns are dropped. */
async function turnsCall(
  { system, earlier, window }: Conversation,
  until: string,
  countTokens: CountTokens,
): Promise<Omit<ChatCall, "signal">> {
  const prompt = { role: "user" as const, content: turnsPrompt(earlier.summary) };
  let turns = earlier.turns.filter(({ runId }) => runId <= until);
  for (let kept = window; ; kept = Math.floor(kept / 2)) {
    const messages: ChatMessage[] = [{ role: "system", content: system }, ...earlierMessages(turns), prompt];
    const isSmall = (await tokensOf(messages, "", window, countTokens)) <= window * turnsInputPart;
    if (isSmall || turns.length <= 1) return { messages, maxTokens: Math.ceil(window * summaryPart) };
    turns = kept < leastText ? turns.slice(1) : turns.map((turn) => shorterTurn(turn, kept));
  }
}

function shorterTurn({ runId, input, answer }: EarlierTurn, kept: number): EarlierTurn {
  return { runId, input: shortened(input, kept), answer: shortened(answer, kept) };
}

export function summaryStep(
  called: MadeCall,
  { covers, turns, before_tokens: before }: SummaryRange,
  steps: readonly Step[],
): { step: Step; events: NewEvent[] } {
  const summary = { ...messageOf(called, false), covers, ...(turns !== undefined && { turns }) };
  const count = visibleSteps(steps).filter(({ n }) => n <= covers).length;
  const what = turns === undefined ? `${count} older steps` : "Earlier turns";
  const message = `${what} were summarized; the conversation had about ${before} tokens.`;
  return {
    step: { n: steps.length + 1, kind: "summary", message: summary, prompt: null },
    events: [{ type: "compressed", data: { message, before_tokens: before, summary: called.answer.text } }],
  };
}
