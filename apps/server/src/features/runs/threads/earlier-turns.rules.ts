import type { ChatMessage } from "../../../engines/models/chat.ts";
import type { Step } from "../run.ts";

/** A run of the thread before the current one, as text. */
export interface EarlierTurn {
  runId: string;
  input: string;
  answer: string;
}

/** What a run knows of its thread. */
export interface EarlierTurns {
  /** Of turns before `turns`. */
  summary: string | undefined;
  turns: readonly EarlierTurn[];
}

export const noEarlierTurns: EarlierTurns = { summary: undefined, turns: [] };

/** The rule-based planner skips messages with this heading: they are not its task. */
const heading = "Earlier input:\n";

export function earlierMessages(turns: readonly EarlierTurn[]): ChatMessage[] {
  return turns.flatMap(({ input, answer }) => [
    { role: "user" as const, content: `${heading}${input}` },
    { role: "assistant" as const, text: answer, toolCalls: [] },
  ]);
}

/** The summary of earlier turns that the run made last. */
export function turnsSummary(steps: readonly Step[]): Step["message"] | undefined {
  return steps.findLast(({ message }) => message.turns !== undefined)?.message;
}

/** The turns as the run sees them after its own summaries. */
export function visibleTurns(earlier: EarlierTurns, steps: readonly Step[]): EarlierTurns {
  const own = turnsSummary(steps);
  const until = own?.turns;
  if (own === undefined || until === undefined) return earlier;
  return { summary: own.text, turns: earlier.turns.filter(({ runId }) => runId > until) };
}
