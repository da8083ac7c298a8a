import { isRecord } from "../../kernel/is-record.ts";

type Body = Record<string, unknown>;

const prefix = "gantry.";

/** Clients send thoughts back only with a signature, which models of other protocols do not have. */
export function ownSignature(predictionId: string): string {
  return prefix + predictionId;
}

/** Anthropic refuses thoughts that it has not signed, so those of other models are left out. */
export function withoutOwnThoughts(body: Body): Body {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(hasOwnThoughts)) return body;
  return { ...body, messages: messages.flatMap(stripped) };
}

function stripped(message: unknown): unknown[] {
  if (!hasOwnThoughts(message)) return [message];
  const content = message.content.filter((block) => !isOwnThought(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

function hasOwnThoughts(message: unknown): message is Body & { content: unknown[] } {
  return isRecord(message) && Array.isArray(message.content) && message.content.some(isOwnThought);
}

function isOwnThought(block: unknown): boolean {
  if (!isRecord(block) || block.type !== "thinking") return false;
  return typeof block.signature === "string" && block.signature.startsWith(prefix);
}
