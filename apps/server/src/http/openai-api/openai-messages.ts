import type { ChatMessage, Content, ContentPart, ReadImage, ToolCall } from "../../features/predictions/index.ts";
import type { Loc } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Field,
  fieldOf,
  invalid,
  missing,
  optionalList,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";
import { parseArguments } from "../doors/tool-arguments.ts";

type Given = Record<string, unknown>;

const roles = "system, developer, user, assistant, tool";

/** Translates the messages of a chat completion for backends of other protocols. */
export async function readMessages(given: readonly unknown[], readImage: ReadImage): Promise<ChatMessage[]> {
  const reader = new MessageReader(readImage);
  const messages: ChatMessage[] = [];
  for (const [index, message] of given.entries())
    messages.push(await reader.read(message, ["body", "messages", index]));
  return messages;
}

class MessageReader {
  readonly #readImage: ReadImage;
  /** Names of the tool calls so far, by id: results do not name their tool. */
  readonly #names = new Map<string, string>();

  constructor(readImage: ReadImage) {
    this.#readImage = readImage;
  }

  read(value: unknown, loc: Loc): ChatMessage | Promise<ChatMessage> {
    const message = requiredRecord({ value, loc });
    const role = requiredText(fieldOf(message, "role", loc));
    switch (role) {
      case "system":
      case "developer":
        return { role: "system", content: textOf(present(fieldOf(message, "content", loc))) };
      case "user":
        return this.#readUser(message, loc);
      case "assistant":
        return this.#readAssistant(message, loc);
      case "tool":
        return this.#readResult(message, loc, requiredText(fieldOf(message, "tool_call_id", loc)), "tool_call_id");
      case "function":
        return this.#readResult(message, loc, idOfFunction(requiredText(fieldOf(message, "name", loc))), "name");
      default:
        throw invalid({ loc: [...loc, "role"] }, `Value is not one of the allowed options: ${roles}.`);
    }
  }

  async #readUser(message: Given, loc: Loc): Promise<ChatMessage> {
    return { role: "user", content: await this.#contentOf(present(fieldOf(message, "content", loc))) };
  }

  #readAssistant(message: Given, loc: Loc): ChatMessage {
    const content = fieldOf(message, "content", loc);
    const refusal = optionalText(fieldOf(message, "refusal", loc)) ?? "";
    const text = content.value === undefined ? refusal : textOf(content);
    const reasoning = [message.reasoning_content, message.reasoning].find((thought) => typeof thought === "string");
    const toolCalls = [...this.#callsOf(message, loc), ...this.#functionCallOf(message, loc)];
    return { role: "assistant", text, toolCalls, ...(reasoning && { reasoning }) };
  }

  #callsOf(message: Given, loc: Loc): ToolCall[] {
    const calls = fieldOf(message, "tool_calls", loc);
    return (optionalList(calls) ?? []).map((value, index) => {
      const at = [...calls.loc, index];
      const call = requiredRecord({ value, loc: at });
      const type = optionalText(fieldOf(call, "type", at)) ?? "function";
      if (type !== "function")
        throw invalid({ loc: [...at, "type"] }, `Tool calls of type ${quoted(type)} are not supported by this model.`);
      const id = requiredText(fieldOf(call, "id", at));
      return this.#callOf(id, fieldOf(call, "function", at));
    });
  }

  /** The deprecated form has no id. */
  #functionCallOf(message: Given, loc: Loc): ToolCall[] {
    const call = fieldOf(message, "function_call", loc);
    if (call.value === undefined) return [];
    const name = requiredText(fieldOf(requiredRecord(call), "name", call.loc));
    return [this.#callOf(idOfFunction(name), call)];
  }

  #callOf(id: string, field: Field): ToolCall {
    const given = requiredRecord(field);
    const name = requiredText(fieldOf(given, "name", field.loc));
    this.#names.set(id, name);
    const json = isRecord(given.arguments)
      ? JSON.stringify(given.arguments)
      : optionalText(fieldOf(given, "arguments", field.loc));
    return { id, name, arguments: parseArguments(json ?? "") };
  }

  async #readResult(message: Given, loc: Loc, callId: string, idField: string): Promise<ChatMessage> {
    const name = this.#names.get(callId);
    if (name === undefined)
      throw invalid(
        { loc: [...loc, idField] },
        "No assistant message before this one has the tool call of this result.",
      );
    return { role: "tool", callId, name, content: await this.#contentOf(fieldOf(message, "content", loc)) };
  }

  async #contentOf(field: Field): Promise<Content> {
    if (field.value === undefined || typeof field.value === "string") return field.value ?? "";
    const parts: ContentPart[] = [];
    for (const [index, value] of (optionalList(field) ?? []).entries()) {
      parts.push(await this.#partOf({ value, loc: [...field.loc, index] }));
    }
    return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("\n") : parts;
  }

  async #partOf(field: Field): Promise<ContentPart> {
    const part = requiredRecord(field);
    if (part.type !== "image_url") return { type: "text", text: textOfPart(field) };
    const image = fieldOf(part, "image_url", field.loc);
    // Some clients send the address without an object around it.
    const url = typeof image.value === "string" ? image : fieldOf(requiredRecord(image), "url", image.loc);
    return { type: "image", ...(await this.#readImage(requiredText(url), url.loc)) };
  }
}

function present(field: Field): Field {
  if (field.value === undefined) throw missing(field);
  return field;
}

function textOf(field: Field): string {
  if (typeof field.value === "string") return field.value;
  const parts = optionalList(field) ?? [];
  return parts.map((value, index) => textOfPart({ value, loc: [...field.loc, index] })).join("\n");
}

const textFields: Readonly<Record<string, string>> = { text: "text", refusal: "refusal" };

function textOfPart(field: Field): string {
  const part = requiredRecord(field);
  const type = requiredText(fieldOf(part, "type", field.loc));
  const name = textFields[type];
  if (name !== undefined) return optionalText(present(fieldOf(part, name, field.loc))) ?? "";
  throw invalid(
    { loc: [...field.loc, "type"] },
    `Content of type ${quoted(type)} is not supported by this model here.`,
  );
}

function idOfFunction(name: string): string {
  return `call_${name}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}
