import type { Door } from "@gantry/wire";
import { type ChatCall, type ChatDriver, type ChatResult, imagesIn, promptText } from "../../../engines/models/chat.ts";
import type { ModelDriver, OutputValue, TokenUsage } from "../../../engines/models/driver.ts";
import { nativeSize } from "../../../engines/models/native-size.ts";
import { fault } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Terms } from "../../billing/index.ts";
import type { Model } from "../../models/index.ts";
import { hasTokenLimit } from "../admission/admit-predictions.ts";
import { pricesInput, termsOfDoorChat, tokensOfImage } from "../admission/reserve.ts";
import { keptChat } from "../kept/kept-chat.rules.ts";
import { type Outcome, type StoredOutput, streamedField } from "../prediction.ts";
import type { Perform } from "./execute-prediction.ts";
import { type RunDeps, type RunRequest, runPrediction } from "./run-prediction.ts";

export interface ConverseRequest extends Pick<RunRequest, "predictionId" | "origin" | "onLive" | "onAccepted"> {
  caller: Caller;
  model: Model;
  route: "sync" | "stream";
  door: Door;
  chat: DoorChat;
  /** The request for backends that do not speak the protocol of `chat.native`. */
  translated?: (() => Promise<DoorChat>) | undefined;
  /** If set, the input is always counted. Called before admission. */
  onCounted?(inputTokens: number): void;
}

/** `extra` has fields that only backends of OpenAI's protocol read. */
export type DoorChat = Omit<ChatCall, "signal" | "onBegun">;

/** The answer to a conversation, without its usage. */
export type Reply = Omit<ChatResult, "usage">;

export interface ConverseEnd {
  predictionId: string;
  outcome: Outcome;
  /** Set if the outcome is `done`. */
  reply: Reply | undefined;
}

/** Asks a text model for a client of a chat protocol: admitted, charged and counted like any prediction. */
export async function converse(deps: RunDeps, request: ConverseRequest): Promise<ConverseEnd> {
  const { chat, translated, model, onCounted, ...rest } = request;
  const { terms, maxTokens, inputTokens, images } = await planChat(
    deps,
    model,
    chat,
    onCounted !== undefined || hasTokenLimit(rest.caller),
  );
  onCounted?.((inputTokens ?? 0) + images * tokensOfImage);
  const { predictionId, outcome } = await runPrediction(deps, {
    ...rest,
    model,
    input: { input: {}, user: undefined },
    toKeep: () => keptChat(chat),
    terms,
    inputTokens,
    perform: performChat(model, chat, { maxTokens, translated }),
  });
  const reply = outcome.kind === "done" ? storedReply(outcome.output) : undefined;
  return { predictionId, outcome, reply };
}

/** The terms of a conversation. The whole message list counts as input. */
export async function planChat(
  { estimateTokens }: Pick<RunDeps, "estimateTokens">,
  { manifest }: Model,
  chat: DoorChat,
  mustCount = false,
): Promise<{ terms: Terms; maxTokens: number; inputTokens: number | undefined; images: number }> {
  const { text, images, readsMore } = chat.native
    ? nativeSize(chat.native.body)
    : { text: promptText(chat), images: imagesIn(chat.messages), readsMore: false };
  const isCounted = mustCount || pricesInput(manifest) || manifest.context_window !== undefined;
  const textTokens = isCounted ? await estimateTokens(text) : 0;
  const planned = termsOfDoorChat(manifest, { textTokens, images, readsMore, maxTokens: chat.maxTokens });
  return { ...planned, inputTokens: isCounted ? textTokens : undefined, images };
}

export function performChat(
  model: Model,
  chat: DoorChat,
  { maxTokens, translated }: { maxTokens: number | undefined } & Pick<ConverseRequest, "translated">,
): Perform {
  return async (driver: ModelDriver & Partial<ChatDriver>, { signal, onBegun }, backend) => {
    if (!driver.chat) throw fault("downstream_service_error", "The model does not support conversations");
    const isSpoken = !chat.native || driver.protocol === chat.native.protocol;
    if (!isSpoken && !translated)
      throw fault("service_unavailable", "The model was changed during the request. Send the request again.");
    const { extra, ...own } = isSpoken || !translated ? chat : await translated();
    const { usage, ...reply } = await driver.chat({
      ...own,
      ...(extra && backend.type === "openai-chat" && { extra }),
      ...(maxTokens !== undefined && { maxTokens }),
      signal,
      onBegun,
    });
    return { output: outputOf(model, reply), usage, stop: reply.stop };
  };
}

/** Beside the model's own output field, so that the result route shows the text as it does for every prediction. */
const replyField = "reply";

function outputOf(model: Model, { text, ...reply }: Reply): Record<string, OutputValue> {
  return { [textField(model)]: text, [replyField]: reply as unknown as OutputValue };
}

/** Reads a stored answer. The text is the other field, whatever the manifest calls it by now. */
export function storedReply(output: StoredOutput): Reply {
  const { [replyField]: reply, ...others } = output;
  const [text] = Object.values(others);
  const rest = isRecord(reply) ? reply : {};
  return { reasoning: "", toolCalls: [], stop: "end", ...rest, text: typeof text === "string" ? text : "" };
}

/** The usage of an ended prediction, as it was charged. */
export function storedUsage(details: Record<string, unknown> | null): TokenUsage {
  const figure = (name: string) => (typeof details?.[name] === "number" ? details[name] : undefined);
  const [cachedTokens, cacheWriteTokens] = [figure("cached_tokens"), figure("cache_write_tokens")];
  return {
    inputTokens: figure("input_tokens") ?? 0,
    outputTokens: figure("output_tokens") ?? 0,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

function textField(model: Model): string {
  const field = streamedField(model) ?? "output";
  return field === replyField ? "output" : field;
}
