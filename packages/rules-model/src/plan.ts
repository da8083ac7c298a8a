import { isDeepStrictEqual } from "node:util";
import { answerByRule, noRule } from "./answer-text.ts";
import type { Message, Request, Step, Tool, ToolCall } from "./conversation.ts";
import { fillAnswer } from "./fill-answer.ts";
import { argumentSets, forcedArguments } from "./fill-arguments.ts";
import { mentionedTools } from "./mentions.ts";
import { type Situation, situationOf } from "./situation.ts";

/**
 * Calls one tool per step, in the order of the text, once its required arguments are known. Never repeats a call. When no
 * call is left, answers.
 */
export function nextStep(call: Request): Step {
  const situation = situationOf(call.messages);
  const chosen = call.toolChoice === "none" ? undefined : nextCall(call, situation);
  if (chosen) return { text: "", toolCalls: [chosen] };
  const report = reportOf(situation, call.tools ?? []);
  if (!call.responseSchema) return { text: report, toolCalls: [] };
  return { text: JSON.stringify(fillAnswer(call.responseSchema, situation, report)), toolCalls: [] };
}

function nextCall({ tools = [], toolChoice, messages }: Request, situation: Situation): ToolCall | undefined {
  const earlier = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  const { text } = situation;
  const asked = typeof toolChoice === "object" ? tools.filter((tool) => tool.name === toolChoice.name) : undefined;
  const candidates = asked?.map((tool) => ({ tool, clause: text, weak: false })) ?? mentionedTools(text, tools);
  for (const { tool, clause, weak } of candidates) {
    if (weak && earlier.length > 0) break;
    const before = earlier.filter((one) => one.name === tool.name);
    const then = before.length === 0 ? situation : situationOf(messages.slice(0, firstCallOf(tool, messages)));
    const next = argumentSets(tool, then, clause).find(
      (given) => !before.some((one) => isDeepStrictEqual(one.arguments, given)),
    );
    if (next) return toolCall(tool, next, earlier.length);
  }
  if (toolChoice !== "required" && asked === undefined) return undefined;
  const forced = candidates[0]?.tool ?? tools[0];
  if (!forced) return undefined;
  const given = forcedArguments(forced, situation);
  const repeated = earlier.some((one) => one.name === forced.name && isDeepStrictEqual(one.arguments, given));
  return repeated ? undefined : toolCall(forced, given, earlier.length);
}

/**
 * A tool is called again only for another value in the messages before its first call. Otherwise a matching field in its
 * own result would trigger another call.
 */
function firstCallOf(tool: Tool, messages: readonly Message[]): number {
  return messages.findIndex(
    (message) => message.role === "assistant" && message.toolCalls.some((one) => one.name === tool.name),
  );
}

function toolCall(tool: Tool, given: Record<string, unknown>, n: number): ToolCall {
  return { id: `call_${n + 1}`, name: tool.name, arguments: given };
}

const shownOfResult = 1500;

function reportOf(situation: Situation, tools: readonly Tool[]): string {
  if (situation.outcomes.length > 0) {
    return situation.outcomes
      .map(({ call, content, failed }) => {
        const shown = content.length > shownOfResult ? `${content.slice(0, shownOfResult)} […]` : content;
        return failed ? `${call.name} failed: ${shown}` : `${call.name}: ${shown}`;
      })
      .join("\n");
  }
  const byRule = answerByRule(situation.lastPrompt);
  if (byRule) return byRule.text;
  if (tools.length === 0) return noRule;
  const names = tools.slice(0, 20).map((tool) => tool.name);
  return `${noRule} The task does not name one of my tools (${names.join(", ")}) with the values that it needs.`;
}
