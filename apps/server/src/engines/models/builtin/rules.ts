import { setImmediate as nextTurn } from "node:timers/promises";
import { nextStep } from "@gantry/rules-model";
import type { ChatDriver, ChatResult } from "../chat.ts";
import { Interrupted, type ModelDriver } from "../driver.ts";
import { runAsChat } from "../text/prediction.ts";
import { promptText, type TextRequest } from "../text/request.ts";
import { countTokens, estimateTokens } from "../token-count.ts";

/** Every so many words others may work; an answer can be as long as a text that was to be repeated. */
const wordsPerTurn = 64;

/**
 * `gantry/rules`: no language model, but a planner that answers by rules and calls the tools that a task names. It
 * needs no key, no network and no clock: the same messages always give the same answer.
 */
export function createRules(): ModelDriver & ChatDriver {
  async function answer(request: Omit<TextRequest, "id">): Promise<ChatResult> {
    request.signal.throwIfAborted();
    const inputTokens = await countTokens(promptText(request));
    const { text, toolCalls } = nextStep(request);
    const spoken = await speak(text, request);
    const produced = spoken.text + toolCalls.map((call) => call.name + JSON.stringify(call.arguments)).join("");
    const counted = async (count = countTokens) => ({ inputTokens, outputTokens: await count(produced) });
    if (request.signal.aborted) throw new Interrupted(() => counted(estimateTokens), request.signal.reason);
    const usage = await counted();
    const stop = spoken.cut ? "length" : toolCalls.length > 0 ? "tool_calls" : "end";
    return { text: spoken.text, reasoning: "", toolCalls, usage, stop };
  }

  return { chat: answer, run: runAsChat(answer), enforcesSchema: true };
}

/** Word by word, until the text, the allowed tokens or the caller's patience end. */
async function speak(text: string, request: Omit<TextRequest, "id">): Promise<{ text: string; cut: boolean }> {
  let room = request.maxTokens ?? Number.POSITIVE_INFINITY;
  let spoken = "";
  let words = 0;
  for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
    if (request.signal.aborted) break;
    room -= room === Number.POSITIVE_INFINITY ? 0 : await countTokens(word);
    if (room < 0) return { text: spoken, cut: true };
    spoken += word;
    const pause = request.onText?.(word);
    if (pause) await Promise.race([pause, aborted(request.signal)]);
    if (++words % wordsPerTurn === 0) await nextTurn();
  }
  return { text: spoken, cut: false };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
