import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../kernel/is-record.ts";
import { type Content as ChatContent, type ChatMessage, type ToolCall, textOfContent } from "../chat.ts";
import { writeParts } from "../text/request.ts";

export type Part = Record<string, unknown>;

interface Content {
  role: "user" | "model";
  parts: Part[];
}

/** Parts with thought signatures, which the API wants back together with their calls. */
export interface GoogleOpaque {
  protocol: "google";
  parts: Part[];
  callIds: string[];
  /** Arguments that differ from those the API sent, by call id. */
  restored?: Record<string, unknown>;
}

/** Marks ids generated here, because Gemini sent none. They must not be sent to the API. */
const ownIdPrefix = "gantry_call_";

export function newCallId(): string {
  return ownIdPrefix + randomUUID();
}

const longestName = 64;

/** The API requires a letter or underscore first. Tool names meet its other rules. */
export function toWireName(name: string): string {
  return /^[a-zA-Z_]/.test(name) ? name : `_${name}`.slice(0, longestName);
}

function idField(id: string): { id?: string } {
  return id.startsWith(ownIdPrefix) ? {} : { id };
}

/** `mayBeUnsigned`: the model accepts calls without signatures. */
export function writeContents(messages: readonly ChatMessage[], mayBeUnsigned: boolean) {
  const system: string[] = [];
  const contents: Content[] = [];
  for (const message of messages) {
    if (message.role === "system") {
      if (message.content !== "") system.push(message.content);
      continue;
    }
    const role = message.role === "assistant" ? "model" : "user";
    const parts = partsOf(message, mayBeUnsigned);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return { system: system.join("\n\n"), contents };
}

function partsOf(message: ChatMessage, mayBeUnsigned: boolean): Part[] {
  if (message.role === "tool") {
    const text = textOfContent(message.content);
    const response = message.isError ? { error: text } : { result: text };
    const result = { functionResponse: { ...idField(message.callId), name: toWireName(message.name), response } };
    return [result, ...contentParts(message.content).filter((part) => "inlineData" in part)];
  }
  if (message.role !== "assistant") return contentParts(message.content);
  const { opaque, toolCalls } = message;
  // Calls may have been removed from the message on purpose.
  if (isOwn(opaque) && opaque.callIds.join() === toolCalls.map((call) => call.id).join()) {
    return signedParts(opaque, toolCalls, mayBeUnsigned);
  }
  const text = message.text === "" ? [] : [{ text: message.text }];
  const calls = toolCalls.map((call) => ({
    functionCall: { ...idField(call.id), name: toWireName(call.name), args: call.arguments },
  }));
  return [...text, ...calls];
}

function contentParts(content: ChatContent): Part[] {
  return writeParts<Part>(content, {
    text: (text) => ({ text }),
    image: ({ contentType, base64 }) => ({ inlineData: { mimeType: contentType, data: base64 } }),
  });
}

/** Documented by the API for calls without their signature. */
const noSignature = "skip_thought_signature_validator";

/** A call whose arguments were shortened loses its signature, which is valid only for the original arguments. */
function signedParts(
  { parts, restored = {} }: GoogleOpaque,
  toolCalls: readonly ToolCall[],
  mayBeUnsigned: boolean,
): Part[] {
  let n = 0;
  return parts.map((part) => {
    if (!isRecord(part.functionCall)) return part;
    const call = toolCalls[n++];
    const { thoughtSignature, ...unsigned } = part;
    if (!call || isDeepStrictEqual(restored[call.id] ?? part.functionCall.args ?? {}, call.arguments)) return part;
    const functionCall = { ...part.functionCall, args: call.arguments };
    return {
      ...unsigned,
      functionCall,
      ...(thoughtSignature !== undefined && !mayBeUnsigned && { thoughtSignature: noSignature }),
    };
  });
}

function isOwn(opaque: unknown): opaque is GoogleOpaque {
  return (
    isRecord(opaque) &&
    opaque.protocol === "google" &&
    Array.isArray(opaque.parts) &&
    Array.isArray(opaque.callIds) &&
    opaque.callIds.length > 0
  );
}
