import { setImmediate as nextTurn } from "node:timers/promises";

type Count = (text: string) => number;

let loading: Promise<Count> | undefined;

/** Texts hold whatever a user wrote, names of special tokens too: there they are plain text. */
const asPlainText = { disallowedSpecial: new Set<string>() };
const sliceLength = 16_384;
/**
 * The tokenizer takes a run of letters, signs or blanks as one word, and its time grows with the square of the word: 50
 * thousand Chinese characters without a blank took 13 s. Words are cut here, at a small loss of exactness.
 */
const longRun = /\S{97,}|\s{97,}/;
const shortRuns = /\S{1,96}|\s{1,96}/g;

/** The counter itself. Its tables (o200k) take 0.3 s and 50 MB, so they are loaded at the first count. */
function counter(): Promise<Count> {
  loading ??= import("gpt-tokenizer/encoding/o200k_base").then(({ countTokens: count }) => (text) => {
    if (!longRun.test(text)) return count(text, asPlainText);
    let sum = 0;
    for (const run of text.match(shortRuns) ?? []) sum += count(run, asPlainText);
    return sum;
  });
  return loading;
}

/** How many tokens a text is, roughly for models of another family. Long texts are counted without holding the loop. */
export async function countTokens(text: string): Promise<number> {
  if (text === "") return 0;
  const count = await counter();
  if (text.length <= sliceLength) return count(text);
  let sum = 0;
  for (let from = 0; from < text.length; ) {
    const to = sliceEnd(text, from);
    sum += count(text.slice(from, to));
    from = to;
    await nextTurn();
  }
  return sum;
}

const sampleLength = 8_192;
const samples = 24;

/**
 * For what was cut off, which must be told at once: of a long text only parts are counted, spread over it. That takes
 * tens of milliseconds however long it is.
 */
export async function estimateTokens(text: string): Promise<number> {
  if (text.length <= sampleLength * samples) return countTokens(text);
  let sum = 0;
  for (let n = 0; n < samples; n++) {
    const from = Math.floor((n * (text.length - sampleLength)) / (samples - 1));
    sum += await countTokens(text.slice(from, from + sampleLength));
    await nextTurn();
  }
  return Math.round((sum * text.length) / (samples * sampleLength));
}

/** Before the last blank of the slice, where the tokenizer parts words too; or anywhere, if it has none. */
function sliceEnd(text: string, from: number): number {
  const limit = from + sliceLength;
  if (limit >= text.length) return text.length;
  const blank = Math.max(text.lastIndexOf(" ", limit), text.lastIndexOf("\n", limit));
  return blank > from ? blank : limit;
}
