import type { ChatDriver } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import { serverMark } from "../server-mark.ts";
import { withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import type { TextRequest } from "../text/request.ts";
import { joinUrl } from "../upstream.ts";
import { bindsAnswer, createAdaptations, learnFrom, without } from "./chat-adaptations.ts";
import { isStrict, messagesOf, writeTools } from "./chat-messages.ts";
import { nativeBody } from "./chat-native.ts";
import { namesRefusal, OpenAiReader, refusal } from "./chat-reader.ts";

export interface OpenAiChatOptions extends TextBackendOptions {
  /** The base URL, without `/chat/completions`. */
  url: string;
  /** Newer OpenAI models require `max_completion_tokens`, which is also learned from a refusal. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
}

/** OpenAI and compatible servers: vLLM, llama.cpp, Ollama, LiteLLM and others. */
export function createOpenAiChat(options: OpenAiChatOptions): ModelDriver & ChatDriver {
  const { model, key, mask } = options;
  const learned = createAdaptations(options.maxTokensField);
  const server = serverMark(options.url, model);

  function bodyOf(request: TextRequest): string {
    return JSON.stringify({
      top_p: request.topP,
      stop: request.stop?.length ? request.stop : undefined,
      reasoning_effort: learned.refusedHints.has("reasoning_effort") ? undefined : request.reasoningEffort,
      ...(request.extra && without(request.extra, learned.refusedHints)),
      model,
      messages: messagesOf(request.messages, learned.takesThoughts ? server : undefined),
      stream: true,
      stream_options: learned.reportsUsage ? { include_usage: true } : undefined,
      [learned.maxTokensField]: request.maxTokens,
      temperature: request.temperature,
      seed: request.seed,
      ...answerFields(request),
    });
  }

  function answerFields(request: TextRequest): Record<string, unknown> {
    const { responseSchema: schema } = request;
    if (schema === undefined) {
      const isJson = request.responseFormat === "json" && learned.hasJsonMode;
      return { ...toolFields(request, request), ...(isJson && { response_format: { type: "json_object" } }) };
    }
    if (bindsAnswer(request, learned)) {
      const json_schema = { name: "answer", schema, strict: isStrict(schema) };
      return { ...toolFields(request, request), response_format: { type: "json_schema", json_schema } };
    }
    const { tools, toolChoice } = withAnswerTool(request);
    return toolFields({ tools, toolChoice: learned.forcesTools ? toolChoice : "auto" }, request);
  }

  function toolFields(declared: Pick<TextRequest, "tools" | "toolChoice">, request: TextRequest) {
    if (!declared.tools || declared.tools.length === 0) return {};
    const isHinted = request.parallelToolCalls !== undefined && !learned.refusedHints.has("parallel_tool_calls");
    return {
      ...writeTools(declared.tools, declared.toolChoice, request),
      ...(isHinted && { parallel_tool_calls: request.parallelToolCalls }),
    };
  }

  const protocol: TextProtocol = {
    native: "openai-chat",
    hasJsonMode: true,
    // Many compatible servers accept a schema and ignore it.
    enforcesSchema: false,
    write: (request) => ({
      url: joinUrl(options.url, "chat/completions"),
      headers: {
        "content-type": "application/json",
        accept: request.native?.stream === false ? "application/json" : "text/event-stream",
        "idempotency-key": request.id,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: request.native ? nativeBody(model, request.native, request.maxTokens, learned) : bodyOf(request),
      explain: (status, body) => (status === 400 && namesRefusal(body) ? refusal(body, mask) : undefined),
    }),
    read: (answer, request) => new OpenAiReader(answer, request, { mask, server }),
    adapt: (failure, request, sentBody) => learnFrom(failure, request, sentBody, learned),
  };
  return createTextBackend(protocol, options);
}
