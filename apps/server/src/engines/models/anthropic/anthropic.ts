import { isRecord } from "../../../kernel/is-record.ts";
import { usualAnswerTokens } from "../../../kernel/money.ts";
import type { ChatDriver, NativeRequest } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import { serverMark } from "../server-mark.ts";
import { tokens } from "../text/answer.ts";
import { withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import type { TextRequest } from "../text/request.ts";
import { objectParameters, schemaOf } from "../text/tool-parameters.ts";
import { broken, joinUrl, requestJson } from "../upstream.ts";
import { type Adaptations, createAdaptations, learnFrom, thinkingFields } from "./adaptations.ts";
import { type Block, markForCache, withoutForeignThoughts, writeMessages } from "./messages.ts";
import { AnthropicReader } from "./reader.ts";

export interface AnthropicOptions extends TextBackendOptions {
  url: string;
}

type Body = Record<string, unknown>;

export const anthropicUrl = "https://api.anthropic.com/v1";
/** Sent by the official clients. It refuses the sampling fields, which the version before accepts. */
const currentVersion = "2026-10-21";
const versionWithSampling = "2023-06-01";
const samplingFields = ["temperature", "top_p", "top_k"] as const;
/** Headers of a native request that are passed on. */
const nativeHeaders = ["anthropic-version", "anthropic-beta"] as const;

/** The Messages API of Anthropic. */
export function createAnthropic(options: AnthropicOptions): ModelDriver & ChatDriver {
  const { model, key, mask, net } = options;
  const learned = createAdaptations();
  const address = joinUrl(options.url, "messages");
  const server = serverMark(address);

  function headersOf(accept: string, body: Body, given: NativeRequest["headers"] = {}): Record<string, string> {
    const passed = nativeHeaders.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
    return {
      "content-type": "application/json",
      accept,
      "anthropic-version": samplingFields.some((name) => body[name] != null) ? versionWithSampling : currentVersion,
      ...Object.fromEntries(passed),
      ...(key !== undefined && { "x-api-key": key }),
    };
  }

  function readable(request: TextRequest): TextRequest {
    const messages = withoutForeignThoughts(request.messages, server);
    return messages === request.messages ? request : { ...request, messages };
  }

  const protocol: TextProtocol = {
    native: "anthropic",
    // A forced tool usually makes the model follow the schema, but the API does not guarantee it.
    enforcesSchema: false,
    write(request) {
      const { native } = request;
      const body = native ? nativeBody(model, native, request.maxTokens) : bodyOf(model, readable(request), learned);
      const accept = native?.stream === false ? "application/json" : "text/event-stream";
      return { url: address, headers: headersOf(accept, body, native?.headers), body: JSON.stringify(body) };
    },
    read: (answer, request) => new AnthropicReader(answer, request, mask, server),
    adapt: (failure, request) => learnFrom(failure, request, learned),
  };

  return {
    ...createTextBackend(protocol, options),
    async countTokens({ body: given, headers: passed }, signal) {
      const body = { ...given, model };
      const headers = headersOf("application/json", body, passed);
      const url = joinUrl(address, "count_tokens");
      const { json } = await requestJson(net, { url, headers, body: JSON.stringify(body), mask, signal });
      const counted = isRecord(json) ? tokens(json.input_tokens) : undefined;
      if (counted === undefined) throw broken(new Error("The upstream did not count the tokens"));
      return counted;
    },
  };
}

/** The client's body with the model's name and the output limit. */
function nativeBody(model: string, { body, stream }: NativeRequest, maxTokens = usualAnswerTokens): Body {
  const asked = typeof body.max_tokens === "number" ? body.max_tokens : maxTokens;
  return { ...body, model, stream, max_tokens: Math.min(asked, maxTokens) };
}

function bodyOf(model: string, request: TextRequest, learned: Adaptations): Body {
  const { system, messages } = writeMessages(request.messages);
  const systemBlocks: Block[] = system === "" ? [] : [{ type: "text", text: system }];
  const { tools, toolChoice } = withAnswerTool(request);
  const toolBlocks: Block[] = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: objectParameters(schemaOf(tool, request)).schema,
  }));
  if (request.repeats) {
    markForCache(systemBlocks);
    markForCache(toolBlocks);
    markForCache(messages.at(-1)?.content);
  }
  const maxTokens = request.maxTokens ?? usualAnswerTokens;
  const thinking = thinkingFields(request, { maxTokens, toolChoice }, learned);
  const body: Body = {
    ...samplingOf(request),
    stop_sequences: request.stop?.length ? request.stop : undefined,
    ...request.extra,
    model,
    messages,
    stream: true,
    max_tokens: maxTokens,
    system: systemBlocks.length > 0 ? systemBlocks : undefined,
    ...(toolBlocks.length > 0 && { tools: toolBlocks, tool_choice: choiceOf(toolChoice, request.parallelToolCalls) }),
    ...thinking,
  };
  // A model that thinks has no other sampling than its own.
  if (thinking !== undefined || !learned.takesSampling) for (const name of samplingFields) delete body[name];
  return body;
}

/** The API has no seed and no temperature above 1. Newer models refuse `top_p` beside a temperature. */
function samplingOf({ temperature, topP }: TextRequest): Body {
  return temperature === undefined ? { top_p: topP } : { temperature: Math.min(temperature, 1) };
}

function choiceOf(choice: TextRequest["toolChoice"], isParallel: boolean | undefined): Body | undefined {
  const single = isParallel === false && choice !== "none" ? { disable_parallel_tool_use: true } : undefined;
  if (choice === undefined) return single && { type: "auto", ...single };
  if (typeof choice === "object") return { type: "tool", name: choice.name, ...single };
  return { type: choice === "required" ? "any" : choice, ...single };
}
