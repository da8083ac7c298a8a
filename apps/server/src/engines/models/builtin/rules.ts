import { setImmediate as nextTick } from "node:timers/promises";
import { nextStep } from "@gantry/rules-model";
import { type ChatDriver, type ChatMessage, type ChatResult, promptText, textOfContent } from "../chat.ts";
import { Interrupted, type ModelDriver } from "../driver.ts";
import { runAsChat } from "../text/prediction.ts";
import type { TextRequest } from "../text/request.ts";
import { countTokens, estimateTokens } from "../token-count.ts";

/** An answer can be long, so the event loop gets a tick after this many words. */
const wordsPerTick = 64;

/** `gantry/rules`. It needs no key, network or clock: the same messages always give the same answer. */
export function createRules(): ModelDriver & ChatDriver {
  async function answer(request: Omit<TextRequest, "id">): Promise<ChatResult> {
    request.signal.throwIfAborted();
    const inputTokens = await countTokens(promptText(request));
    const { text, toolCalls } = nextStep({ ...request, messages: request.messages.map(withPlainText) });
    const streamed = await stream(text, request);
    const produced = streamed.text + toolCalls.map((call) => call.name + JSON.stringify(call.arguments)).join("");
    const counted = async (count = countTokens) => ({ inputTokens, outputTokens: await count(produced) });
    if (request.signal.aborted) throw new Interrupted(() => counted(estimateTokens), request.signal.reason);
    const usage = await counted();
    const stop = streamed.isCut ? "length" : toolCalls.length > 0 ? "tool_calls" : "end";
    return { text: streamed.text, reasoning: "", toolCalls, usage, stop };
  }

  return { chat: answer, run: runAsChat(answer), enforcesSchema: true };
}

/** The rules do not see images. */
function withPlainText(message: ChatMessage) {
  return message.role === "assistant" ? message : { ...message, content: textOfContent(message.content) };
}

/** Sends the text word by word, up to the token limit or an abort. */
async function stream(text: string, request: Omit<TextRequest, "id">): Promise<{ text: string; isCut: boolean }> {
  let tokensLeft = request.maxTokens ?? Number.POSITIVE_INFINITY;
  let sent = "";
  let words = 0;
  for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
    if (request.signal.aborted) break;
    tokensLeft -= tokensLeft === Number.POSITIVE_INFINITY ? 0 : await countTokens(word);
    if (tokensLeft < 0) return { text: sent, isCut: true };
    sent += word;
    const pause = request.onText?.(word);
    if (pause) await Promise.race([pause, aborted(request.signal)]);
    if (++words % wordsPerTick === 0) await nextTick();
  }
  return { text: sent, isCut: false };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
