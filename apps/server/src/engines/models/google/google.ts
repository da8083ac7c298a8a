import type { ChatDriver, ChatTool } from "../chat.ts";
import type { ModelDriver } from "../driver.ts";
import { withAnswerTool } from "../text/answer-tool.ts";
import { createTextBackend, type TextBackendOptions, type TextProtocol } from "../text/backend.ts";
import type { TextRequest } from "../text/request.ts";
import { joinUrl } from "../upstream.ts";
import { toWireName, writeContents } from "./contents.ts";
import { GoogleReader, parametersOf } from "./reader.ts";
import { toGoogleSchema } from "./schema.ts";
import { thinkingConfig } from "./thinking.ts";

export interface GoogleOptions extends TextBackendOptions {
  url: string;
}

export const googleUrl = "https://generativelanguage.googleapis.com/v1beta";

/** The Gemini API of Google. */
export function createGoogle(options: GoogleOptions): ModelDriver & ChatDriver {
  const { key, mask } = options;
  const name = options.model.includes("/") ? options.model : `models/${options.model}`;
  const path = name.split("/").map(encodeURIComponent).join("/");
  const protocol: TextProtocol = {
    // The API enforces only a subset of JSON Schema.
    enforcesSchema: false,
    write: (request) => ({
      url: `${joinUrl(options.url, path)}:streamGenerateContent?alt=sse`,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(key !== undefined && { "x-goog-api-key": key }),
      },
      body: JSON.stringify(bodyOf(options.model, request)),
    }),
    read: (answer, request) => new GoogleReader(answer, request, mask),
  };
  return createTextBackend(protocol, options);
}

/** Later models refuse calls without their signature. */
const takesUnsignedCalls = /gemini-[12](?!\d)/;

/** These inputs go to the top level of the body, all others into `generationConfig`. */
const topLevel = new Set(["safetySettings", "cachedContent", "labels"]);

function bodyOf(model: string, request: TextRequest): Record<string, unknown> {
  const { system, contents } = writeContents(request.messages, takesUnsignedCalls.test(model));
  const extra = Object.entries(request.extra ?? {});
  const boundAnswer = boundAnswerOf(request);
  return {
    ...Object.fromEntries(extra.filter(([name]) => topLevel.has(name))),
    contents,
    systemInstruction: system === "" ? undefined : { parts: [{ text: system }] },
    ...(boundAnswer ? {} : toolFields(request)),
    generationConfig: {
      topP: request.topP,
      stopSequences: request.stop?.length ? request.stop : undefined,
      thinkingConfig: thinkingConfig(model, request),
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

function choiceOf(choice: NonNullable<TextRequest["toolChoice"]>): Record<string, unknown> {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [toWireName(choice.name)] };
  return { mode: { auto: "AUTO", required: "ANY", none: "NONE" }[choice] };
}
