import type { ModelMessage, Step, StoredCall } from "../run.ts";
import { lengthLimit, quotedTail } from "./prompts.rules.ts";
import { RunFailed } from "./stopped.ts";

/** Consecutive steps without a complete part. After this many, the run fails. */
const mostCuts = { text: 5, call: 3 };

/** Whether the text of a message was cut off. A call that was cut off gets an error as result. */
export function isCutText({ message }: Pick<Step, "message">): boolean {
  return message.cutAtTokens !== undefined && message.toolCalls.length === 0;
}

/** Whether the call at this position may be incomplete. Earlier calls are complete. */
export function isCutCall({ cutAtTokens, toolCalls }: ModelMessage, position: number): boolean {
  return cutAtTokens !== undefined && position === toolCalls.length - 1;
}

export function wholeCalls(steps: readonly Step[], calls: readonly StoredCall[]): readonly StoredCall[] {
  const cut = new Map(steps.filter(({ message }) => message.cutAtTokens !== undefined).map((step) => [step.n, step]));
  if (cut.size === 0) return calls;
  return calls.filter(({ step, position }) => {
    const message = cut.get(step)?.message;
    return !message || !isCutCall(message, position);
  });
}

/** The text of the last step, joined with earlier parts that were cut off. */
export function joinedText(steps: readonly Step[]): string {
  const rest = steps.filter(({ kind }) => kind !== "summary");
  const last = rest.pop();
  let text = last?.message.text ?? "";
  for (let piece = rest.pop(); piece && piece.kind === last?.kind && isCutText(piece); piece = rest.pop()) {
    text = piece.message.text + withoutQuote(text, piece.message.text);
  }
  return text;
}

/** Some models repeat the quoted end of the text that they continue. */
function withoutQuote(text: string, before: string): string {
  const quote = quotedTail(before);
  if (quote.length === before.length || !text.startsWith(quote)) return text;
  // In repetitive text, such as a table, the repetition may be intended.
  return before.indexOf(quote) < before.length - quote.length ? text : text.slice(quote.length);
}

/** The failure of the run if too many consecutive answers were cut off. */
export function cutTooOften(steps: readonly Step[]): RunFailed | undefined {
  const answers = steps.filter(({ kind }) => kind !== "summary");
  const last = answers.at(-1);
  const tokens = last?.message.cutAtTokens;
  if (!last || tokens === undefined) return undefined;
  const times = answers.length - 1 - answers.findLastIndex(({ message }) => !isAllCut(message));
  const isCall = last.message.toolCalls.length > 0;
  if (times < (isCall ? mostCuts.call : mostCuts.text)) return undefined;
  const what = isCall ? "The model's tool call" : "The model's answer";
  return new RunFailed("limit_exceeded", `${what} was cut off at ${lengthLimit(tokens)}, ${times} times in a row`);
}

/** Whether no part is complete: of several calls, all but the last are made. */
function isAllCut({ cutAtTokens, toolCalls }: ModelMessage): boolean {
  return cutAtTokens !== undefined && toolCalls.length <= 1;
}
