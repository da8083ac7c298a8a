import { isRecord } from "../../../kernel/is-record.ts";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { ChatTool } from "../chat.ts";
import type { Mask } from "../mask.ts";
import { argumentsText, eventJson, type TextAnswer, tokens } from "../text/answer.ts";
import { answerToolName, withAnswerTool } from "../text/answer-tool.ts";
import { listOf } from "../text/folded-object.ts";
import { after, inOrder, type Pause } from "../text/pause.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { type Offered, schemaOf } from "../text/tool-parameters.ts";
import { UpstreamFailure } from "../upstream.ts";
import { type GoogleOpaque, newCallId, type Part, toWireName } from "./contents.ts";
import { toGoogleParameters } from "./schema.ts";

export function parametersOf(tool: ChatTool, request: TextRequest): Offered | undefined {
  return toGoogleParameters(schemaOf(tool, request), tool.name === answerToolName);
}

const refusals = new Set([
  "SAFETY",
  "RECITATION",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
]);
/** Only with these reasons may an answer be empty. Others (LANGUAGE, OTHER, reasons of later versions) are failures. */
const ends = new Set(["STOP", "MAX_TOKENS"]);
const failures = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]);

export class GoogleReader implements StreamReader {
  complete = false;
  /** The protocol has no end event; a finish reason with usage is the last chunk. */
  closed = false;
  readonly #answer: TextAnswer;
  readonly #request: TextRequest;
  readonly #mask: Mask;
  readonly #parts: Part[] = [];
  readonly #tools: ReadonlyMap<string, { name: string; restore: Offered["restore"] }>;
  /** Arguments that differ from those the API sent, by call id. */
  readonly #restored: Record<string, Record<string, unknown>> = {};

  constructor(answer: TextAnswer, request: TextRequest, mask: Mask) {
    this.#answer = answer;
    this.#request = request;
    this.#tools = new Map(
      withAnswerTool(request).tools.map((tool) => [
        toWireName(tool.name),
        { name: tool.name, restore: parametersOf(tool, request)?.restore },
      ]),
    );
    this.#mask = mask;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): Pause {
    const chunk = eventJson(data);
    if (chunk.error) throw this.#failure(chunk.error);
    if (isRecord(chunk.usageMetadata)) this.#takeUsage(chunk.usageMetadata);
    if (isRecord(chunk.promptFeedback) && typeof chunk.promptFeedback.blockReason === "string") {
      this.#answer.refused = true;
      this.complete = true;
      return;
    }
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) return;
    const parts = isRecord(candidate.content) ? listOf(candidate.content.parts).filter(isRecord) : [];
    const pause = inOrder(parts, (part) => this.#takePart(part));
    if (typeof candidate.finishReason !== "string") return pause;
    const reason = candidate.finishReason;
    this.closed = isRecord(chunk.usageMetadata);
    return after(pause, () => this.#finish(reason));
  }

  #takePart(part: Part): Pause {
    if (isRecord(part.functionCall)) return this.#takeCall(part, part.functionCall);
    if (typeof part.text !== "string") return;
    if (part.thought === true) return this.#answer.addReasoning(part.text);
    this.#keepText(part, part.text);
    return this.#answer.addText(part.text);
  }

  #takeCall(part: Part, call: Record<string, unknown>): Pause {
    // The API has no field for this limit.
    if (this.#request.parallelToolCalls === false && this.#answer.toolCalls.length > 0) return;
    const id = typeof call.id === "string" && call.id !== "" ? call.id : newCallId();
    const { name = String(call.name), restore } = this.#tools.get(String(call.name)) ?? {};
    const arriving = { id, name, json: "" };
    const sent = call.args ?? {};
    const isWritable = isWithinDepth(sent);
    const given = restore && isWritable ? restore(sent) : sent;
    if (restore && isRecord(given) && isWithinDepth(given)) this.#restored[id] = given;
    // Arguments that cannot be serialized are not sent back.
    this.#parts.push(isWritable ? part : { ...part, functionCall: { ...call, args: {} } });
    return after(this.#answer.startCall(arriving), () => this.#answer.addArguments(arriving, argumentsText(given)));
  }

  #keepText(part: Part, text: string): void {
    const last = this.#parts.at(-1);
    const mergeable = last && typeof last.text === "string" && !last.thoughtSignature && !part.thoughtSignature;
    if (mergeable) last.text = last.text + text;
    else this.#parts.push({ ...part });
  }

  #finish(reason: string): Pause {
    this.complete = true;
    if (reason === "MAX_TOKENS") this.#answer.cutByLength = true;
    if (refusals.has(reason)) this.#answer.refused = true;
    const { text, toolCalls: called } = this.#answer;
    const isEmpty = text.trim() === "" && called.length === 0;
    if (failures.has(reason) || (isEmpty && !ends.has(reason) && !refusals.has(reason))) {
      throw new UpstreamFailure({ status: 500, body: `finishReason ${reason}`, mask: this.#mask });
    }
    return after(this.#answer.finishCalls(), () => this.#keepSigned());
  }

  #keepSigned(): void {
    const parts = this.#parts.filter(
      (part) => !isRecord(part.functionCall) || part.functionCall.name !== answerToolName,
    );
    if (parts.some((part) => part.thoughtSignature)) {
      const callIds = this.#answer.toolCalls.map((call) => call.id);
      const restored = this.#restored;
      this.#answer.opaque = { protocol: "google", parts, callIds, restored } satisfies GoogleOpaque;
    }
  }

  #takeUsage(usage: Record<string, unknown>): void {
    const { usage: ours } = this.#answer;
    if (isWithinDepth(usage)) ours.googleUsage = usage;
    const input = tokens(usage.promptTokenCount);
    const toolInput = tokens(usage.toolUsePromptTokenCount) ?? 0;
    if (input !== undefined) ours.inputTokens = input + toolInput;
    const candidates = tokens(usage.candidatesTokenCount);
    const thoughts = tokens(usage.thoughtsTokenCount);
    if (candidates !== undefined || thoughts !== undefined) ours.outputTokens = (candidates ?? 0) + (thoughts ?? 0);
    const cached = tokens(usage.cachedContentTokenCount);
    if (cached !== undefined) ours.cachedTokens = cached;
  }

  #failure(error: unknown): Error {
    const code = isRecord(error) ? Number(error.code) : 0;
    const status = code >= 400 && code <= 599 ? code : 500;
    return new UpstreamFailure({ status, body: JSON.stringify(error), mask: this.#mask });
  }
}
