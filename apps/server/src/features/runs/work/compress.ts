import { type ChatCall, type ChatMessage, type ChatTool, sentText } from "../../../engines/models/chat.ts";
import type { Step } from "../run.ts";
import type { NewEvent, SummingUp } from "../run-writer.ts";
import { type MadeCall, saidIn } from "./ask-model.ts";
import { conversation, type Transcript, visibleSteps } from "./conversation.rules.ts";
import { summaryPrompt } from "./prompts.rules.ts";

/** Above this part of the model's window the conversation is made shorter. */
const fullAt = 0.8;
/** Of the window, what is left of it at least for a summary to be written from. */
const summaryRoom = 0.6;
/** The last steps stay as they are: the model is in the middle of them. */
const stepsKept = 2;
/** No language and hardly any data has fewer. */
const bytesPerToken = 2;

export type CountTokens = (text: string) => Promise<number>;

export type Shortening =
  | { kind: "none"; messages: ChatMessage[] }
  /** Long results before this step are shortened. */
  | { kind: "results"; messages: ChatMessage[]; cutBefore: number; before: number; after: number }
  /** Steps up to this one are to be summed up by the model. */
  | { kind: "summary"; covers: number; before: number };

/**
 * Keeps the conversation within the model's window: first the long results of older steps are shortened, then those of
 * the last ones where they alone are too much, then the older steps are summed up. Cuts fall between steps only; goal,
 * input and schemas always stay as they are, and so does everything that is stored. `beside` is what goes out with the
 * conversation: tools, schema, the next question.
 */
export async function shorten(told: Transcript, beside: string, countTokens: CountTokens): Promise<Shortening> {
  const { window } = told;
  const messages = conversation(told);
  const measure = (all: readonly ChatMessage[]) => tokensOf(all, beside, window, countTokens);
  const before = await measure(messages);
  const most = window * fullAt;
  if (before <= most) return { kind: "none", messages };
  const visible = visibleSteps(told.steps);
  const last = visible.at(-1)?.n ?? 0;
  const keptFrom = (visible.at(-stepsKept) ?? visible[0])?.n ?? 0;
  const older = visible.filter((step) => step.n < keptFrom).map(({ n }) => n);
  const cut = async (cutBefore: number) => {
    if (cutBefore <= told.cutBefore) return undefined;
    const shorter = conversation({ ...told, cutBefore });
    return { kind: "results" as const, messages: shorter, cutBefore, before, after: await measure(shorter) };
  };

  const olderCut = older.length > 0 ? await cut(keptFrom) : undefined;
  if (olderCut && olderCut.after <= most) return olderCut;
  // What the last steps alone overfill, no summary of the older ones can mend.
  const alone = older.length === 0 ? messages : conversation({ ...told, steps: without(told.steps, older) });
  const allCut = (await measure(alone)) > most ? await cut(last + 1) : undefined;
  if (allCut && allCut.after <= most) return allCut;
  const covers = older.at(-1);
  if (covers !== undefined) return { kind: "summary", covers, before };
  // Nothing older is left. What does not fit at all is summed up, as it would be refused; else it is tried as it is.
  if (last > 0 && (allCut?.after ?? before) > window) return { kind: "summary", covers: last, before };
  return last > 0 && allCut ? allCut : { kind: "none", messages };
}

function without(steps: readonly Step[], numbers: readonly number[]): Step[] {
  return steps.filter(({ n }) => !numbers.includes(n));
}

/** What the summary is written from: the older steps, shortened as far as is needed for them to fit. */
export async function summaryMessages(
  told: Transcript,
  covers: number,
  beside: string,
  countTokens: CountTokens,
): Promise<ChatMessage[]> {
  const { window } = told;
  const older = {
    ...told,
    steps: told.steps.filter((step) => step.n <= covers || step.kind === "summary"),
    calls: told.calls.filter((call) => call.step <= covers),
    cutBefore: covers + 1,
  };
  // The summariser must not overflow itself: the oldest steps of it go first.
  for (let from = 0; ; from++) {
    const visible = visibleSteps(older.steps);
    const gone = visible.slice(0, from).map(({ n }) => n);
    const messages = conversation({ ...older, steps: without(older.steps, gone) });
    if (from >= visible.length - 1) return messages;
    if ((await tokensOf(messages, beside, window, countTokens)) <= window * summaryRoom) return messages;
  }
}

/** Counted only where a look at the length does not tell already that it is far below the limit. */
async function tokensOf(
  messages: readonly ChatMessage[],
  beside: string,
  window: number,
  countTokens: CountTokens,
): Promise<number> {
  const texts = messages.map(sentText);
  texts.push(beside);
  const rough = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytesPerToken;
  if (rough <= window * fullAt) return Math.ceil(rough);
  let sum = 0;
  for (const text of texts) sum += await countTokens(text);
  return sum;
}

/** Of the model's window, for a summary at most. */
const summaryPart = 0.15;

/** The question for a summary of the older steps. */
export async function summaryCall(
  told: Transcript,
  { covers }: SummingUp,
  tools: readonly ChatTool[],
  countTokens: CountTokens,
): Promise<Omit<ChatCall, "signal">> {
  const older = await summaryMessages(told, covers, JSON.stringify(tools), countTokens);
  return {
    messages: [...older, { role: "user", content: summaryPrompt }],
    maxTokens: Math.ceil(told.window * summaryPart),
    ...(tools.length > 0 && { tools, toolChoice: "none" }),
  };
}

/** The step that its answer is, and how that is told. */
export function summaryStep(
  called: MadeCall,
  { covers, before_tokens: before }: SummingUp,
  steps: readonly Step[],
): { step: Step; events: NewEvent[] } {
  const said = { ...saidIn(called, false), covers };
  const count = visibleSteps(steps).filter(({ n }) => n <= covers).length;
  const message = `${count} older steps were summed up; the conversation had about ${before} tokens.`;
  return {
    step: { n: steps.length + 1, kind: "summary", message: said, prompt: null },
    events: [{ type: "compressed", data: { message, before_tokens: before, summary: called.answer.text } }],
  };
}
