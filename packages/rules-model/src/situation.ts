import type { Message, ToolCall } from "./conversation.ts";
import type { Source } from "./find-value.ts";
import { jsonIn, type Literals, literalsOf, parsed } from "./literals.ts";
import { longestRead, nameWords } from "./words.ts";

export interface ToolOutcome {
  call: ToolCall;
  content: string;
  failed: boolean;
}

/** Everything that the planner knows about the conversation. */
export interface Situation {
  /** Text of the user and the system, without JSON. */
  text: string;
  /** The last user message. */
  lastPrompt: string;
  literals: Literals;
  /** JSON in the messages: the run's input. */
  inputs: readonly Source[];
  /** Tool results, latest first. Results are data: a tool named in them is not called. */
  results: readonly Source[];
  outcomes: readonly ToolOutcome[];
}

/** Begins an input of an earlier run of the same thread, which is not the task. */
const earlierTurn = "Earlier input:\n";

export function situationOf(messages: readonly Message[]): Situation {
  const texts: string[] = [];
  const inputs: Source[] = [];
  const outcomes: ToolOutcome[] = [];
  const calls = new Map<string, ToolCall>();
  let lastPrompt = "";
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.toolCalls) calls.set(call.id, call);
    else if (message.role === "tool") {
      const call = calls.get(message.callId) ?? { id: message.callId, name: message.name, arguments: {} };
      outcomes.push({ call, content: message.content, failed: message.isError === true });
    } else if (!message.content.startsWith(earlierTurn)) {
      const { values, rest } = jsonIn(message.content);
      texts.push(rest);
      for (const value of values) inputs.push({ about: [], value });
      if (message.role === "user") lastPrompt = message.content;
    }
  }
  const text = texts.join("\n").slice(0, longestRead);
  const results = outcomes
    .filter((outcome) => !outcome.failed)
    .map(({ call, content }) => ({ about: nameWords(call.name), value: parsed(content) ?? { result: content } }));
  return { text, lastPrompt, literals: literalsOf(text), inputs, results: results.reverse(), outcomes };
}
