import { randomUUID } from "node:crypto";
import type { ChatMessage } from "./chat.ts";
import { isObject } from "./text-answer.ts";
import type { InlineImage } from "./text-request.ts";

export type Part = Record<string, unknown>;

interface Content {
  role: "user" | "model";
  parts: Part[];
}

/** Parts with thought signatures, which the API wants to see again beside the calls they belong to. */
export interface GoogleOpaque {
  protocol: "google";
  parts: Part[];
  callIds: string[];
}

/** Gemini often names no id for a call; ours must then not be sent back to it. */
const ownIdPrefix = "gantry_call_";

export function newCallId(): string {
  return ownIdPrefix + randomUUID();
}

function idField(id: string): { id?: string } {
  return id.startsWith(ownIdPrefix) ? {} : { id };
}

export function writeContents(messages: readonly ChatMessage[], images: readonly InlineImage[]) {
  const system: string[] = [];
  const contents: Content[] = [];
  for (const message of messages) {
    if (message.role === "system") {
      if (message.content !== "") system.push(message.content);
      continue;
    }
    const role = message.role === "assistant" ? "model" : "user";
    const parts = partsOf(message);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  const pictures = images.map((image) => ({ inlineData: { mimeType: image.contentType, data: image.base64 } }));
  const last = contents.at(-1);
  if (last?.role === "user") last.parts.push(...pictures);
  else if (pictures.length > 0) contents.push({ role: "user", parts: pictures });
  return { system: system.join("\n\n"), contents };
}

function partsOf(message: ChatMessage): Part[] {
  if (message.role === "tool") {
    const response = message.isError ? { error: message.content } : { result: message.content };
    return [{ functionResponse: { ...idField(message.callId), name: message.name, response } }];
  }
  if (message.role !== "assistant") return message.content === "" ? [] : [{ text: message.content }];
  const { opaque, toolCalls } = message;
  // Only if it still is the same message: whoever shortened it meant to.
  if (isOwn(opaque) && opaque.callIds.join() === toolCalls.map((call) => call.id).join()) return opaque.parts;
  const text = message.text === "" ? [] : [{ text: message.text }];
  const calls = toolCalls.map((call) => ({
    functionCall: { ...idField(call.id), name: call.name, args: call.arguments },
  }));
  return [...text, ...calls];
}

function isOwn(opaque: unknown): opaque is GoogleOpaque {
  return (
    isObject(opaque) &&
    opaque.protocol === "google" &&
    Array.isArray(opaque.parts) &&
    Array.isArray(opaque.callIds) &&
    opaque.callIds.length > 0
  );
}
