import type { SaidMessage, Step, StoredCall } from "../run.ts";
import { lengthLimit, quotedTail } from "./prompts.rules.ts";
import { RunFailed } from "./stopped.ts";

/** Steps in a row that were cut before they brought anything whole: from here on nothing else is to be expected. */
const mostCuts = { text: 5, call: 3 };

/** Whether a message broke off in its text. Where it broke off in a call, that call's result tells so. */
export function isCutText({ message }: Pick<Step, "message">): boolean {
  return message.cutAtTokens !== undefined && message.toolCalls.length === 0;
}

/** Whether the call of this place may lack its end. What came before it was said whole. */
export function isCutCall({ cutAtTokens, toolCalls }: SaidMessage, position: number): boolean {
  return cutAtTokens !== undefined && position === toolCalls.length - 1;
}

/** Calls that failed, or not, on their own account. */
export function wholeCalls(steps: readonly Step[], calls: readonly StoredCall[]): readonly StoredCall[] {
  const cut = new Map(steps.filter(({ message }) => message.cutAtTokens !== undefined).map((step) => [step.n, step]));
  if (cut.size === 0) return calls;
  return calls.filter(({ step, position }) => {
    const said = cut.get(step)?.message;
    return !said || !isCutCall(said, position);
  });
}

/** What was said last, together with the pieces before it that broke off and that it goes on with. */
export function joinedText(steps: readonly Step[]): string {
  const said = steps.filter(({ kind }) => kind !== "summary");
  const last = said.pop();
  let text = last?.message.text ?? "";
  for (let piece = said.pop(); piece && piece.kind === last?.kind && isCutText(piece); piece = said.pop()) {
    text = piece.message.text + withoutQuote(text, piece.message.text);
  }
  return text;
}

/** Some models begin with the very words that they were told they had ended with. */
function withoutQuote(text: string, before: string): string {
  const quote = quotedTail(before);
  if (quote.length === before.length || !text.startsWith(quote)) return text;
  // Where the same words stand in it more than once already, as in a table, they may well be meant once more.
  return before.indexOf(quote) < before.length - quote.length ? text : text.slice(quote.length);
}

/** Why the run ends, if one answer after the other was cut. */
export function cutTooOften(steps: readonly Step[]): RunFailed | undefined {
  const said = steps.filter(({ kind }) => kind !== "summary");
  const last = said.at(-1);
  const tokens = last?.message.cutAtTokens;
  if (!last || tokens === undefined) return undefined;
  const times = said.length - 1 - said.findLastIndex(({ message }) => !isAllCut(message));
  const isCall = last.message.toolCalls.length > 0;
  if (times < (isCall ? mostCuts.call : mostCuts.text)) return undefined;
  const what = isCall ? "The model's call of a tool" : "The model's answer";
  return new RunFailed("limit_exceeded", `${what} was cut off at ${lengthLimit(tokens)}, ${times} times in a row`);
}

/** Whether it brought nothing whole: of several calls, all but the last are made. */
function isAllCut({ cutAtTokens, toolCalls }: SaidMessage): boolean {
  return cutAtTokens !== undefined && toolCalls.length <= 1;
}
