import { isRecord } from "../../../kernel/is-record.ts";
import { isWithinDepth } from "../../../kernel/storable-issues.ts";
import type { ChatDriver, ChatTool } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import { argumentsText, eventJson, type TextAnswer, tokens } from "../text/answer.ts";
import { answerToolName, takeSubmittedAnswer, withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import type { TextRequest } from "../text/request.ts";
import type { StreamReader } from "../text/stream.ts";
import { type Offered, schemaOf } from "../text/tool-parameters.ts";
import { joinUrl, UpstreamFailure } from "../upstream.ts";
import { type GoogleOpaque, newCallId, type Part, toWireName, writeContents } from "./contents.ts";
import { toGoogleParameters, toGoogleSchema } from "./schema.ts";

export interface GoogleOptions extends TextBackendOptions {
  url?: string | undefined;
}

const defaultUrl = "https://generativelanguage.googleapis.com/v1beta";

/** The Gemini API of Google. */
export function createGoogle(options: GoogleOptions): ModelDriver & ChatDriver {
  const { key } = options;
  const name = options.model.includes("/") ? options.model : `models/${options.model}`;
  const path = name.split("/").map(encodeURIComponent).join("/");
  const mayBeUnsigned = takesUnsignedCalls.test(options.model);
  const protocol: TextProtocol = {
    key,
    // The API enforces only a subset of JSON Schema.
    enforcesSchema: false,
    write: (request) => ({
      url: `${joinUrl(options.url ?? defaultUrl, path)}:streamGenerateContent?alt=sse`,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(key !== undefined && { "x-goog-api-key": key }),
      },
      body: JSON.stringify(bodyOf(request, mayBeUnsigned)),
    }),
    read: (answer, request) => new GoogleReader(answer, request, key),
  };
  return createTextBackend(protocol, options);
}

/** Later models refuse calls without their signature. */
const takesUnsignedCalls = /gemini-[12](?!\d)/;

/** These inputs go to the top level of the body, all others into `generationConfig`. */
const topLevel = new Set(["safetySettings", "cachedContent", "labels"]);

function bodyOf(request: TextRequest, mayBeUnsigned: boolean): Record<string, unknown> {
  const { system, contents } = writeContents(request.messages, request.images ?? [], mayBeUnsigned);
  const extra = Object.entries(request.extra ?? {});
  const boundAnswer = boundAnswerOf(request);
  return {
    ...Object.fromEntries(extra.filter(([name]) => topLevel.has(name))),
    contents,
    systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
    ...(boundAnswer ? {} : toolFields(request)),
    generationConfig: {
      ...Object.fromEntries(extra.filter(([name]) => !topLevel.has(name))),
      maxOutputTokens: request.maxTokens,
      temperature: request.temperature,
      seed: request.seed,
      ...boundAnswer,
    },
  };
}

/**
 * Undefined if no schema is requested or the answer tool is needed: the API refuses a schema together with tools, and parts
 * that are written as text must be parsed.
 */
function boundAnswerOf({ responseSchema, tools = [] }: TextRequest): Record<string, unknown> | undefined {
  if (responseSchema === undefined || tools.length > 0) return undefined;
  const { schema, asText, restore } = toGoogleSchema(responseSchema);
  if (asText) return { responseMimeType: "application/json" };
  return restore ? undefined : { responseMimeType: "application/json", responseSchema: schema };
}

function toolFields(request: TextRequest): Record<string, unknown> {
  const { tools, toolChoice } = withAnswerTool(request);
  if (tools.length === 0) return {};
  return {
    tools: [{ functionDeclarations: tools.map((tool) => declarationOf(tool, request)) }],
    toolConfig: toolChoice === undefined ? undefined : { functionCallingConfig: choiceOf(toolChoice) },
  };
}

function declarationOf(tool: ChatTool, request: TextRequest): Record<string, unknown> {
  const parameters = parametersOf(tool, request)?.schema;
  return { name: toWireName(tool.name), description: tool.description, parameters };
}

function parametersOf(tool: ChatTool, request: TextRequest): Offered | undefined {
  return toGoogleParameters(schemaOf(tool, request), tool.name === answerToolName);
}

function choiceOf(choice: NonNullable<TextRequest["toolChoice"]>): Record<string, unknown> {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [toWireName(choice.name)] };
  return { mode: { auto: "AUTO", required: "ANY", none: "NONE" }[choice] };
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

class GoogleReader implements StreamReader {
  complete = false;
  /** The protocol has no end event; a finish reason with usage is the last chunk. */
  closed = false;
  readonly #answer: TextAnswer;
  readonly #key: string | undefined;
  readonly #parts: Part[] = [];
  readonly #tools: ReadonlyMap<string, { name: string; restore: Offered["restore"] }>;
  /** Arguments that differ from those the API sent, by call id. */
  readonly #restored: Record<string, Record<string, unknown>> = {};

  constructor(answer: TextAnswer, request: TextRequest, key: string | undefined) {
    this.#answer = answer;
    this.#tools = new Map(
      withAnswerTool(request).tools.map((tool) => [
        toWireName(tool.name),
        { name: tool.name, restore: parametersOf(tool, request)?.restore },
      ]),
    );
    this.#key = key;
  }

  get delivered(): boolean {
    return this.#answer.delivered;
  }

  onEvent({ data }: { data: string }): void | Promise<void> {
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
    const parts = isRecord(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : [];
    const pause = this.#takeParts(parts);
    if (typeof candidate.finishReason !== "string") return pause;
    const reason = candidate.finishReason;
    this.closed = isRecord(chunk.usageMetadata);
    return pause ? pause.then(() => this.#finish(reason)) : this.#finish(reason);
  }

  #takeParts(parts: readonly unknown[], from = 0): void | Promise<void> {
    for (let i = from; i < parts.length; i++) {
      const part = parts[i];
      const pause = isRecord(part) ? this.#takePart(part) : undefined;
      if (pause) return pause.then(() => this.#takeParts(parts, i + 1));
    }
  }

  #takePart(part: Part): void | Promise<void> {
    if (isRecord(part.functionCall)) return this.#takeCall(part, part.functionCall);
    if (typeof part.text !== "string") return;
    if (part.thought === true) return this.#answer.addReasoning(part.text);
    this.#keepText(part, part.text);
    return this.#answer.addText(part.text);
  }

  #takeCall(part: Part, call: Record<string, unknown>): void {
    const id = typeof call.id === "string" && call.id !== "" ? call.id : newCallId();
    const { name = String(call.name), restore } = this.#tools.get(String(call.name)) ?? {};
    const arriving = { id, name, json: "" };
    const sent = call.args ?? {};
    const isWritable = isWithinDepth(sent);
    const given = restore && isWritable ? restore(sent) : sent;
    if (restore && isRecord(given) && isWithinDepth(given)) this.#restored[id] = given;
    this.#answer.addArguments(arriving, argumentsText(given));
    this.#answer.toolCalls.push(arriving);
    // Arguments that cannot be serialized are not sent back.
    this.#parts.push(isWritable ? part : { ...part, functionCall: { ...call, args: {} } });
  }

  #keepText(part: Part, text: string): void {
    const last = this.#parts.at(-1);
    const mergeable = last && typeof last.text === "string" && !last.thoughtSignature && !part.thoughtSignature;
    if (mergeable) last.text = last.text + text;
    else this.#parts.push({ ...part });
  }

  #finish(reason: string): void | Promise<void> {
    this.complete = true;
    if (reason === "MAX_TOKENS") this.#answer.cutByLength = true;
    if (refusals.has(reason)) this.#answer.refused = true;
    const { text, toolCalls: called } = this.#answer;
    const isEmpty = text.trim() === "" && called.length === 0;
    if (failures.has(reason) || (isEmpty && !ends.has(reason) && !refusals.has(reason))) {
      throw new UpstreamFailure({ status: 500, body: `finishReason ${reason}`, key: this.#key });
    }
    const pause = takeSubmittedAnswer(this.#answer);
    const parts = this.#parts.filter(
      (part) => !isRecord(part.functionCall) || part.functionCall.name !== answerToolName,
    );
    if (parts.some((part) => part.thoughtSignature)) {
      const callIds = called.map((call) => call.id);
      const restored = this.#restored;
      this.#answer.opaque = { protocol: "google", parts, callIds, restored } satisfies GoogleOpaque;
    }
    return pause;
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
    return new UpstreamFailure({ status, body: JSON.stringify(error), key: this.#key });
  }
}
