import { isRecord } from "../../../kernel/is-record.ts";
import type { Mask } from "../mask.ts";
import { type ArrivingToolCall, argumentsText, eventJson, type TextAnswer } from "../text/answer.ts";
import { listOf } from "../text/folded-object.ts";
import { after, inOrder, type Pause } from "../text/pause.ts";
import { type Repeated, RepeatedEvent } from "../text/repeated-event.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { restoreOf } from "../text/tool-parameters.ts";
import { refusedContent, UpstreamFailure } from "../upstream.ts";
import { ArrivingCalls } from "./arriving-calls.ts";
import { type OpenAiChatOpaque, readContent, thoughtFields } from "./chat-thoughts.ts";
import { usageOf } from "./chat-usage.ts";

const refusalCode = /"(?:code|type)"\s*:\s*"(?:content_filter|content_policy_violation|moderation_blocked)"/;

export function namesRefusal(body: string): boolean {
  return refusalCode.test(body);
}

export function refusal(body: string, mask: Mask) {
  return refusedContent(new UpstreamFailure({ status: 400, body, mask }));
}

interface Owner {
  mask: Mask;
  server: string;
}

export class OpenAiReader implements StreamReader {
  complete = false;
  closed = false;
  textWithin: Repeated | undefined;
  readonly #answer: TextAnswer;
  readonly #request: TextRequest;
  readonly #owner: Owner;
  /** Thoughts are sent back in the field in which they arrived. */
  #thoughtField: OpenAiChatOpaque["field"] | undefined;
  #thoughts = "";
  readonly #calls = new ArrivingCalls();
  readonly #repeated = new RepeatedEvent((data) => onlyText(eventJson(data)));

  constructor(answer: TextAnswer, request: TextRequest, owner: Owner) {
    this.#answer = answer;
    this.#request = request;
    this.#owner = owner;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): Pause {
    const repeated = this.#repeated.read(data);
    this.textWithin = repeated;
    if (repeated) return this.#answer.addText(repeated.value);
    if (data === "[DONE]") {
      this.closed = true;
      this.complete = true;
      return this.#close();
    }
    const chunk = eventJson(data);
    const text = onlyText(chunk);
    if (text === undefined) return this.#takeChunk(chunk);
    this.#repeated.learn(data, text);
    return this.#answer.addText(text);
  }

  /** A whole completion is one chunk with a message instead of a delta. */
  onWhole(body: Record<string, unknown>): void {
    const choices = listOf(body.choices).map((choice) =>
      isRecord(choice) ? { ...choice, delta: choice.message } : choice,
    );
    void this.#takeChunk({ ...body, choices });
    this.complete ||= choices.length > 0;
    void this.#close();
  }

  #takeChunk(chunk: Record<string, unknown>): Pause {
    if (chunk.error) throw this.#failure(chunk.error);
    if (isRecord(chunk.usage)) Object.assign(this.#answer.usage, usageOf(chunk.usage));
    // The last chunk has usage and no choice.
    const choice: unknown = listOf(chunk.choices)[0];
    if (!isRecord(choice)) return;
    // Some servers send an empty reason with every chunk.
    const reason = typeof choice.finish_reason === "string" ? choice.finish_reason : "";
    if (reason !== "") this.#finish(reason, choice.stop_reason);
    const pause = isRecord(choice.delta) ? this.#takeDelta(choice.delta) : undefined;
    return reason === "" ? pause : after(pause, () => this.#close());
  }

  /** Called at the finish reason, and again at `[DONE]`. */
  #close(): Pause {
    return after(this.#answer.finishCalls(), () => {
      if (this.#answer.toolCalls.length === 0 || !this.#thoughtField) return;
      const [{ server }, field, text] = [this.#owner, this.#thoughtField, this.#thoughts];
      this.#answer.opaque = { protocol: "openai-chat", server, field, text } satisfies OpenAiChatOpaque;
    });
  }

  #takeDelta(delta: Record<string, unknown>): Pause {
    if (typeof delta.refusal === "string" && delta.refusal !== "") this.#answer.refused = true;
    const { text, thought } = readContent(delta.content);
    const thoughts = this.#keptThought(delta) + thought;
    const parts = listOf(delta.tool_calls).filter(isRecord);
    const pause = after(this.#answer.addReasoning(thoughts), () => this.#answer.addText(text));
    return parts.length === 0 ? pause : after(pause, () => inOrder(parts, (part) => this.#takeToolCall(part)));
  }

  #keptThought(delta: Record<string, unknown>): string {
    const field = thoughtFields.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (!field) return "";
    this.#thoughtField ??= field;
    this.#thoughts += String(delta[field]);
    return String(delta[field]);
  }

  #takeToolCall(part: Record<string, unknown>): Pause {
    const given = isRecord(part.function) ? part.function : {};
    const id = typeof part.id === "string" && part.id !== "" ? part.id : undefined;
    const name = typeof given.name === "string" ? given.name : "";
    const json = typeof given.arguments === "string" ? given.arguments : argumentsJson(given.arguments);
    const index = part.index ?? undefined;
    const known = this.#calls.continued(index, id, name);
    const call = known ?? this.#newCall(id, name);
    if (!known) this.#calls.add(call, index);
    else if (known.name === "" && name !== "") this.#answer.nameCall(known, { name, restore: this.#restoreOf(name) });
    this.#calls.readArguments(call, json);
    const pause = known ? undefined : this.#answer.startCall(call);
    return after(pause, () => this.#answer.addArguments(call, json));
  }

  #newCall(id: string | undefined, name: string): ArrivingToolCall {
    return { id: id ?? `call_${crypto.randomUUID()}`, name, json: "", restore: this.#restoreOf(name) };
  }

  #restoreOf(name: string) {
    return restoreOf(name, this.#request);
  }

  #finish(reason: string, stopText: unknown): void {
    this.complete = true;
    if (reason === "length") this.#answer.cutByLength = true;
    if (reason === "content_filter") this.#answer.refused = true;
    // vLLM names the stop text.
    if (reason === "stop" && typeof stopText === "string") this.#answer.stopSequence = stopText;
  }

  #failure(error: unknown): Error {
    const { mask } = this.#owner;
    const body = mask(JSON.stringify(error));
    if (namesRefusal(body)) return refusal(body, mask);
    const codes = isRecord(error) ? [error.code, error.status, error.status_code].map(Number) : [];
    const status = codes.find((code) => code >= 400 && code <= 599) ?? 500;
    return new UpstreamFailure({ status, body, mask });
  }
}

/** The text of a chunk that contains nothing else. */
function onlyText(chunk: Record<string, unknown>): string | undefined {
  if (chunk.error || isRecord(chunk.usage) || !Array.isArray(chunk.choices)) return undefined;
  const choice: unknown = chunk.choices[0];
  if (!isRecord(choice) || typeof choice.finish_reason === "string" || !isRecord(choice.delta)) return undefined;
  const { content, tool_calls, refusal: refused, reasoning_content, reasoning } = choice.delta;
  if (tool_calls || refused || reasoning_content || reasoning) return undefined;
  return typeof content === "string" ? content : undefined;
}

function argumentsJson(given: unknown): string {
  return isRecord(given) ? argumentsText(given) : "";
}
