import { type ChatMessage, type Content, type ContentPart, textOfContent } from "../../../engines/models/chat.ts";
import type { Issue, Loc } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";

type Schema = Readonly<Record<string, unknown>>;
export type ConversationInput = Record<string, unknown>;

/** A message of the run's input, in OpenAI's form. */
interface PlainMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | readonly PlainPart[];
}

type PlainPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** Fields that the conversation itself fills. */
const ownFields = ["messages", "input"] as const;

/**
 * The input of a run for a conversation: the messages, the last user message, and fields of the agent's schema that
 * `metadata` contains. Clients also put tags of their own into `metadata`, so its other fields are ignored.
 */
export function conversationInput(
  schema: Schema,
  messages: readonly ChatMessage[],
  metadata: unknown,
): ConversationInput {
  const lastUser = messages.findLast(({ role }) => role === "user");
  const own = {
    messages: messages.flatMap(plainMessage),
    input: lastUser && "content" in lastUser ? textOfContent(lastUser.content) : "",
  };
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const input: ConversationInput = {};
  for (const field of ownFields) {
    if (Object.hasOwn(properties, field)) input[field] = parsedAs(properties[field], own[field]);
    else if (!isClosed(schema)) input[field] = own[field];
  }
  const given = isRecord(metadata) ? metadata : {};
  for (const [field, wanted] of Object.entries(properties)) {
    if (Object.hasOwn(given, field)) input[field] = parsedAs(wanted, given[field]);
  }
  return input;
}

/** Whether the schema forbids or restricts fields that it does not name. */
function isClosed({ additionalProperties: additional, unevaluatedProperties: unevaluated }: Schema): boolean {
  return [additional, unevaluated].some((rule) => rule === false || (isRecord(rule) && Object.keys(rule).length > 0));
}

/** Most clients send only texts in `metadata`. Text that cannot be parsed stays, and validation names the field. */
function parsedAs(schema: unknown, value: unknown): unknown {
  if (typeof value !== "string" || !isRecord(schema)) return value;
  const types = [schema.type].flat().filter((type) => typeof type === "string");
  if (types.length === 0 || types.includes("string")) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Tool calls of the client's own tools are left out: the agent cannot make them. */
function plainMessage(message: ChatMessage): PlainMessage[] {
  if (message.role !== "assistant") return [{ role: message.role, content: plainContent(message.content) }];
  return message.text === "" ? [] : [{ role: "assistant", content: message.text }];
}

function plainContent(content: Content): PlainMessage["content"] {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text"
      ? part
      : { type: "image_url", image_url: { url: `data:${part.contentType};base64,${part.base64}` } },
  );
}

const dataUrl = /^data:([^;,]+);base64,(.*)$/s;

/** The input for prompts, with images replaced by marks, and the images themselves. */
export function imagesApart(input: Readonly<ConversationInput>): {
  shown: Readonly<ConversationInput>;
  images: readonly ContentPart[];
} {
  const images: ContentPart[] = [];
  if (!Array.isArray(input.messages)) return { shown: input, images };
  const messages = input.messages.map((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return message;
    const content = message.content.map((part: unknown) => {
      const image = imageIn(part);
      if (!image) return part;
      images.push(image);
      return { type: "text", text: `[image ${images.length}]` };
    });
    return { ...message, content };
  });
  return images.length === 0 ? { shown: input, images } : { shown: { ...input, messages }, images };
}

function imageIn(part: unknown): ContentPart | undefined {
  if (!isRecord(part) || part.type !== "image_url" || !isRecord(part.image_url)) return undefined;
  const [, contentType, base64] = dataUrl.exec(String(part.image_url.url)) ?? [];
  return contentType === undefined || base64 === undefined ? undefined : { type: "image", contentType, base64 };
}

/** Issues of the run's input, at the places of the door's request. */
export function doorIssue(issue: Issue): Issue {
  return { ...issue, loc: doorLoc(issue.loc) };
}

function doorLoc(loc: Loc): Loc {
  const [, first, field, ...path] = loc;
  if (first === "thread_id") return ["body", "metadata", "thread_id"];
  if (first !== "input") return loc;
  if (field === undefined) return ["body", "metadata"];
  if (field === "input") return ["body", "messages"];
  return field === "messages" ? ["body", "messages", ...path] : ["body", "metadata", field, ...path];
}
