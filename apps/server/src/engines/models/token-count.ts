import { setImmediate as nextTick } from "node:timers/promises";

type Count = (text: string) => number;

let loading: Promise<Count> | undefined;

/** Names of special tokens in a user's text are plain text. */
const asPlainText = { disallowedSpecial: new Set<string>() };
const sliceLength = 16_384;
/**
 * The tokenizer's time grows with the square of a word's length: 50,000 Chinese characters without a space took 13 s.
 * Long words are split, which makes the count slightly inexact.
 */
const longRun = /\S{97,}|\s{97,}/;
const shortRuns = /\S{1,96}|\s{1,96}/g;

/** The tables (o200k) take 0.3 s and 50 MB, so they are loaded at the first count. */
function counter(): Promise<Count> {
  loading ??= import("gpt-tokenizer/encoding/o200k_base").then(({ countTokens: count }) => (text) => {
    if (!longRun.test(text)) return count(text, asPlainText);
    let sum = 0;
    for (const run of text.match(shortRuns) ?? []) sum += count(run, asPlainText);
    return sum;
  });
  return loading;
}

/** Approximate for models with another tokenizer. Long texts are counted in slices, so that the event loop stays free. */
export async function countTokens(text: string): Promise<number> {
  if (text === "") return 0;
  const count = await counter();
  if (text.length <= sliceLength) return count(text);
  let sum = 0;
  for (let from = 0; from < text.length; ) {
    const to = sliceEnd(text, from);
    sum += count(text.slice(from, to));
    from = to;
    await nextTick();
  }
  return sum;
}

const sampleLength = 8_192;
const samples = 24;

/** Counts samples of a long text. Takes tens of milliseconds at any length, for cancelled calls that must end at once. */
export async function estimateTokens(text: string): Promise<number> {
  if (text.length <= sampleLength * samples) return countTokens(text);
  let sum = 0;
  for (let n = 0; n < samples; n++) {
    const from = Math.floor((n * (text.length - sampleLength)) / (samples - 1));
    sum += await countTokens(text.slice(from, from + sampleLength));
    await nextTick();
  }
  return Math.round((sum * text.length) / (samples * sampleLength));
}

/** Prefers the last space of the slice, because the tokenizer splits there too. */
function sliceEnd(text: string, from: number): number {
  const limit = from + sliceLength;
  if (limit >= text.length) return text.length;
  const blank = Math.max(text.lastIndexOf(" ", limit), text.lastIndexOf("\n", limit));
  return blank > from ? blank : limit;
}
