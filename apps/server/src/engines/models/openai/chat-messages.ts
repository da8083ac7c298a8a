import { isRecord } from "../../../kernel/is-record.ts";
import { type ChatMessage, type ChatTool, type Content, type ToolCall, textOfContent } from "../chat.ts";
import { type TextRequest, writeParts } from "../text/request.ts";
import { objectParameters, schemaOf } from "../text/tool-parameters.ts";
import { thoughtsOf } from "./chat-thoughts.ts";

type Written = Record<string, unknown>;

/** `server` gets back the thoughts that it sent. */
export function messagesOf(messages: readonly ChatMessage[], server: string | undefined): Written[] {
  const written: Written[] = [];
  /** Tool messages contain only text. Their images follow the last of them, in a message of the user. */
  let images: Written[] = [];
  for (const message of messages) {
    // Servers refuse empty assistant messages, which result from an answer that was cut while the model thought.
    if (message.role === "assistant" && message.text === "" && message.toolCalls.length === 0) continue;
    if (message.role === "tool") {
      const own = imagesOf(message.content);
      if (own.length > 0) images.push({ type: "text", text: `Images in the result of ${message.name}:` }, ...own);
    } else if (images.length > 0) {
      const isUser = message.role === "user";
      written.push({ role: "user", content: isUser ? [...images, ...partsOf(message.content)] : images });
      images = [];
      if (isUser) continue;
    }
    written.push(writeMessage(message, server));
  }
  return images.length > 0 ? [...written, { role: "user", content: images }] : written;
}

function writeMessage(message: ChatMessage, server: string | undefined): Written {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        content: message.text === "" && message.toolCalls.length > 0 ? null : message.text,
        ...thoughtsOf(message, server),
        tool_calls: message.toolCalls.length === 0 ? undefined : message.toolCalls.map(writeCall),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: textOfContent(message.content) };
    case "user": {
      // Simple servers accept only a string.
      const hasImages = imagesOf(message.content).length > 0;
      return { role: "user", content: hasImages ? partsOf(message.content) : textOfContent(message.content) };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

function writeCall({ id, name, arguments: given }: ToolCall): Written {
  return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
}

function partsOf(content: Content): Written[] {
  return writeParts<Written>(content, {
    text: (text) => ({ type: "text", text }),
    image: ({ contentType, base64 }) => ({
      type: "image_url",
      image_url: { url: `data:${contentType};base64,${base64}` },
    }),
  });
}

function imagesOf(content: Content): Written[] {
  return typeof content === "string" ? [] : partsOf(content.filter(({ type }) => type === "image"));
}

export function writeTools(
  tools: readonly ChatTool[],
  toolChoice: TextRequest["toolChoice"],
  request: TextRequest,
): Record<string, unknown> {
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
