import { isRecord } from "../../../kernel/is-record.ts";
import type { ChatMessage } from "../chat.ts";
import type { InlineImage, TextRequest } from "../text/request.ts";
import { objectParameters, schemaOf } from "../text/tool-parameters.ts";
import { thoughtsOf } from "./chat-thoughts.ts";

/** `server` gets back the thoughts that it sent. */
export function messagesOf(
  messages: readonly ChatMessage[],
  images: readonly InlineImage[],
  server: string | undefined,
): unknown[] {
  // Servers refuse empty assistant messages, which result from an answer that was cut while the model thought.
  const nonEmpty = messages.filter((one) => one.role !== "assistant" || one.text !== "" || one.toolCalls.length > 0);
  const written = nonEmpty.map((message): Record<string, unknown> => {
    switch (message.role) {
      case "assistant":
        return {
          role: "assistant",
          content: message.text === "" && message.toolCalls.length > 0 ? null : message.text,
          ...thoughtsOf(message, server),
          tool_calls:
            message.toolCalls.length === 0
              ? undefined
              : message.toolCalls.map((call) => ({
                  id: call.id,
                  type: "function",
                  function: { name: call.name, arguments: JSON.stringify(call.arguments) },
                })),
        };
      case "tool":
        return { role: "tool", tool_call_id: message.callId, content: message.content };
      default:
        return { role: message.role, content: message.content };
    }
  });
  const last = written.findLast((message) => message.role === "user");
  if (last && images.length > 0) {
    const text = last.content === "" ? [] : [{ type: "text", text: last.content }];
    const pictures = images.map((image) => ({
      type: "image_url",
      image_url: { url: `data:${image.contentType};base64,${image.base64}` },
    }));
    last.content = [...text, ...pictures];
  }
  return written;
}

export function toolFields(
  { tools, toolChoice }: Pick<TextRequest, "tools" | "toolChoice">,
  request: TextRequest,
): Record<string, unknown> {
  if (!tools || tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, ...tool }) => {
      const { schema: parameters } = objectParameters(schemaOf({ name, description, ...tool }, request));
      return { type: "function", function: { name, description, parameters } };
    }),
    tool_choice: typeof toolChoice === "object" ? { type: "function", function: toolChoice } : toolChoice,
  };
}

/** OpenAI requires that each object of a strict schema is closed and requires all its properties. */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isRecord(schema)) return true;
  if (isRecord(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false) return false;
    if (!Object.keys(schema.properties).every((name) => required.includes(name))) return false;
    if (!Object.values(schema.properties).every(isStrict)) return false;
  } else if (schema.type === "object") return false;
  return [schema.items, schema.anyOf, ...Object.values(isRecord(schema.$defs) ? schema.$defs : {})].every(isStrict);
}
