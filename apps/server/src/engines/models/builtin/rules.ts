import { setImmediate as nextTick } from "node:timers/promises";
import { nextStep } from "@gantry/rules-model";
import { unlessAborted } from "../../../kernel/unless-aborted.ts";
import { type ChatDriver, type ChatMessage, type ChatResult, promptText, textOfContent } from "../chat.ts";
import { Interrupted, type ModelDriver } from "../driver.ts";
import { runAsChat } from "../text/prediction.ts";
import type { TextRequest } from "../text/request.ts";
import { countTokens, estimateTokens } from "../token-count.ts";

/** An answer can be long, so the event loop gets a tick after this many words. */
const wordsPerTick = 64;

type RulesRequest = Omit<TextRequest, "id">;

/** The answer to a request for JSON of any shape. */
const answerObject = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

/** `gantry/rules`. It needs no key, network or clock: the same messages always give the same answer. */
export function createRules(): ModelDriver & ChatDriver {
  async function answer(request: RulesRequest): Promise<ChatResult> {
    request.signal.throwIfAborted();
    const inputTokens = await countTokens(promptText(request));
    const responseSchema = request.responseSchema ?? (request.responseFormat === "json" ? answerObject : undefined);
    const messages = request.messages.map(withPlainText);
    const { text, toolCalls } = nextStep({ ...request, messages, ...(responseSchema && { responseSchema }) });
    const { kept, stopSequence } = untilStop(text, request.stop);
    const streamed = await stream(kept, request);
    const calls = toolCalls.map((call) => ({ ...call, json: JSON.stringify(call.arguments) }));
    for (const [index, { id, name, json }] of calls.entries()) {
      for (const piece of ["", json])
        await orAbort(request.onToolCall?.({ index, id, name, arguments: piece }), request);
    }
    const produced = streamed.text + calls.map((call) => call.name + call.json).join("");
    const counted = async (count = countTokens) => ({ inputTokens, outputTokens: await count(produced) });
    if (request.signal.aborted) throw new Interrupted(() => counted(estimateTokens), request.signal.reason);
    const usage = await counted();
    const result = { text: streamed.text, reasoning: "", toolCalls, usage };
    if (streamed.isCut) return { ...result, stop: "length" };
    if (stopSequence !== undefined) return { ...result, stop: "stop_sequence", stopSequence };
    return { ...result, stop: toolCalls.length > 0 ? "tool_calls" : "end" };
  }

  return { chat: answer, run: runAsChat(answer), enforcesSchema: true };
}

/** The rules do not see images. */
function withPlainText(message: ChatMessage) {
  return message.role === "assistant" ? message : { ...message, content: textOfContent(message.content) };
}

/** The text before the first stop text. */
function untilStop(text: string, stops: readonly string[] = []): { kept: string; stopSequence?: string } {
  const found = stops
    .filter((stop) => stop !== "" && text.includes(stop))
    .map((stop) => ({ stop, at: text.indexOf(stop) }))
    .sort((one, other) => one.at - other.at)[0];
  return found ? { kept: text.slice(0, found.at), stopSequence: found.stop } : { kept: text };
}

/** Sends the text word by word, up to the token limit or an abort. */
async function stream(text: string, request: RulesRequest): Promise<{ text: string; isCut: boolean }> {
  let tokensLeft = request.maxTokens ?? Number.POSITIVE_INFINITY;
  let sent = "";
  let words = 0;
  for (const word of text.match(/\s*\S+|\s+$/g) ?? []) {
    if (request.signal.aborted) break;
    tokensLeft -= tokensLeft === Number.POSITIVE_INFINITY ? 0 : await countTokens(word);
    if (tokensLeft < 0) return { text: sent, isCut: true };
    sent += word;
    await orAbort(request.onText?.(word), request);
    if (++words % wordsPerTick === 0) await nextTick();
  }
  return { text: sent, isCut: false };
}

/** An abort is noticed by the caller. */
async function orAbort(pause: void | Promise<void>, { signal }: RulesRequest): Promise<void> {
  if (!pause) return;
  await unlessAborted(pause, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
