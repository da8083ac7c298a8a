import type { ChatMessage } from "../chat.ts";
import type { TextRequest } from "../text/request.ts";
import type { UpstreamFailure } from "../upstream.ts";

/** What one server takes of the protocol. Found out by what it refuses, and remembered for all later calls. */
export interface Adaptations {
  /** Newer OpenAI models want the other name. */
  maxTokensField: "max_tokens" | "max_completion_tokens";
  reportsUsage: boolean;
  /** It can bind an answer to a schema. */
  hasSchemas: boolean;
  /** Schemas that it refused for what stands in them; others are still asked for. */
  refusedSchemas: WeakSet<object>;
  /** A tool can be forced on its model. Some cannot do so while the model thinks. */
  forcesTools: boolean;
  /** It takes the thoughts back that it sent. */
  takesThoughts: boolean;
}

export function createAdaptations(maxTokensField: Adaptations["maxTokensField"] = "max_tokens"): Adaptations {
  return {
    maxTokensField,
    reportsUsage: true,
    hasSchemas: true,
    refusedSchemas: new WeakSet(),
    forcesTools: true,
    takesThoughts: true,
  };
}

/** How servers call it that they refuse; hardly two of them say it in the same words. */
const namesSchemas = /response[ _]?(?:format|schema)|json[ _](?:schema|mode)|structured[ _]outputs?/i;
const namesThoughts = /\breasoning(?:_content)?\b/i;
/** Not that they are missing, as those say that need them. */
const knowsNone = /unsupported|unknown|unrecognized|unexpected|extra|not (?:permitted|supported|allowed)/i;
const blamesSchema = /invalid (?:json )?schema|invalid json payload/i;

/** Each of these goes one way only, so a call is written anew a few times at most. */
export function learnFrom({ status, body }: UpstreamFailure, request: TextRequest, learned: Adaptations): void {
  if (status !== 400 && status !== 422) return;
  // A server may quote what it was sent: what the caller's own words name says nothing about the server.
  const said = JSON.stringify([request.messages.map(wordsOf), request.tools ?? [], request.extra ?? {}]);
  const names = (word: string) => body.includes(word) && !said.includes(word);
  if (names("max_completion_tokens")) learned.maxTokensField = "max_completion_tokens";
  if (names("stream_options")) learned.reportsUsage = false;
  if (namesThoughts.test(body) && !namesThoughts.test(said) && knowsNone.test(body)) learned.takesThoughts = false;
  const { responseSchema } = request;
  if (!responseSchema) return;
  if (!bindsAnswer(request, learned)) {
    if (names("tool_choice")) learned.forcesTools = false;
  } else if (namesSchemas.test(body)) {
    if (blamesSchema.test(body)) learned.refusedSchemas.add(responseSchema);
    else learned.hasSchemas = false;
  }
}

function wordsOf(message: ChatMessage): unknown {
  return message.role === "assistant" ? [message.text, message.toolCalls] : message.content;
}

/** The server itself is asked to keep the answer to its schema. */
export function bindsAnswer({ responseSchema }: TextRequest, learned: Adaptations): boolean {
  return responseSchema !== undefined && learned.hasSchemas && !learned.refusedSchemas.has(responseSchema);
}
