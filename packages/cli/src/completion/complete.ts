import type { Command, Context } from "../frame/command.ts";
import { cell } from "../frame/format.rules.ts";
import { type Candidate, matching, wantedAt, wordsOf } from "./candidates.rules.ts";
import { sources } from "./values.ts";

const longestMs = 3_000;

/**
 * Prints what can be typed next, one word a line, with its meaning after a tab. Silent if anything fails: a shell would
 * print errors into the line that the user types.
 */
export function completer(commands: readonly Command[]) {
  return async (context: Context): Promise<number> => {
    const line = context.text("line");
    const words = line === undefined ? context.words : wordsOf(line).slice(1);
    const found = await candidatesFor(commands, words, context).catch(() => []);
    for (const { value, meaning } of found) context.out.line(meaning === "" ? value : `${value}\t${cell(meaning)}`);
    return 0;
  };
}

async function candidatesFor(
  commands: readonly Command[],
  words: readonly string[],
  context: Context,
): Promise<readonly Candidate[]> {
  const wanted = wantedAt(commands, words);
  if (wanted.kind === "candidates") return wanted.candidates;
  const { from, typed, prefix } = wanted;
  const signal = AbortSignal.timeout(longestMs);
  const values = await sources[from]({ typed, words: wanted.words, client: context.client, signal });
  const shown = matching(values, typed, prefix);
  return shown.kind === "candidates" ? shown.candidates : [];
}
