import type { ChatMessage, Content, ContentPart, ReadImage, ToolCall } from "../../features/predictions/index.ts";
import { customInput, type Item, type Thoughts } from "../../features/responses/index.ts";
import type { Loc } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Field,
  fieldOf,
  invalid,
  optionalList,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";
import { parseArguments } from "../doors/tool-arguments.ts";

/** An item of the conversation, and the field of the request that it came with. */
export interface PlacedItem {
  item: Item;
  loc: Loc;
}

interface Reading {
  readImage: ReadImage;
  openThoughts(sealed: string): Thoughts | undefined;
}

interface AssistantParts {
  texts: string[];
  toolCalls: ToolCall[];
  thoughts: Thoughts;
}

/** `instructions` and leading developer messages become one system message. Items of unknown types are skipped. */
export async function messagesOf(
  items: readonly PlacedItem[],
  instructions: string | undefined,
  reading: Reading,
): Promise<ChatMessage[]> {
  const reader = new ItemReader(reading);
  for (const placed of items) await reader.read(placed);
  const messages = reader.end();
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const leading = messages.slice(0, firstOther === -1 ? messages.length : firstOther);
  const texts = [
    instructions ?? "",
    ...leading.map((message) => ("content" in message ? String(message.content) : "")),
  ];
  const system = texts.filter((text) => text !== "").join("\n\n");
  return [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...messages.slice(leading.length)];
}

/** Whether the items ask nothing: some clients send such a request to open a connection. */
export function asksNothing(items: readonly PlacedItem[]): boolean {
  return items.every(({ item }) => typeOf(item) === "message" && isSystem(item.role));
}

function typeOf(item: Item): unknown {
  return item.type ?? (item.role === undefined ? undefined : "message");
}

function isSystem(role: unknown): boolean {
  return role === "system" || role === "developer";
}

class ItemReader {
  readonly #reading: Reading;
  readonly #messages: ChatMessage[] = [];
  /** Names of the tool calls so far, by id: results do not name their tool. */
  readonly #names = new Map<string, string>();
  /** Thoughts, text and calls that follow each other are one message of the assistant. */
  #assistant: AssistantParts | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  async read({ item, loc }: PlacedItem): Promise<void> {
    switch (typeOf(item)) {
      case "message":
        return this.#readMessage(item, loc);
      case "function_call":
        return this.#addCall(item, loc, parseArguments(optionalText(fieldOf(item, "arguments", loc)) ?? ""));
      case "custom_tool_call":
        return this.#addCall(item, loc, { [customInput]: optionalText(fieldOf(item, "input", loc)) ?? "" });
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#readResult(item, loc);
      case "reasoning":
        return this.#readThoughts(item);
    }
  }

  end(): ChatMessage[] {
    this.#flush();
    return this.#messages;
  }

  #parts(): AssistantParts {
    this.#assistant ??= { texts: [], toolCalls: [], thoughts: {} };
    return this.#assistant;
  }

  #flush(): void {
    if (!this.#assistant) return;
    const { texts, toolCalls, thoughts } = this.#assistant;
    this.#assistant = undefined;
    const text = texts.filter((one) => one !== "").join("\n");
    // Thoughts alone do not make an answer.
    if (text === "" && toolCalls.length === 0) return;
    this.#messages.push({ role: "assistant", text, toolCalls, ...thoughts });
  }

  async #readMessage(item: Item, loc: Loc): Promise<void> {
    const role = requiredText(fieldOf(item, "role", loc));
    const content = fieldOf(item, "content", loc);
    if (role === "assistant") {
      this.#parts().texts.push(textOf(await this.#contentOf(content)));
      return;
    }
    if (role !== "user" && !isSystem(role))
      throw invalid(
        { loc: [...loc, "role"] },
        "Value is not one of the allowed options: user, assistant, system, developer.",
      );
    this.#flush();
    const read = await this.#contentOf(content);
    this.#messages.push(role === "user" ? { role, content: read } : { role: "system", content: textOf(read) });
  }

  #addCall(item: Item, loc: Loc, given: ToolCall["arguments"]): void {
    const id = requiredText(fieldOf(item, "call_id", loc));
    const name = requiredText(fieldOf(item, "name", loc));
    this.#names.set(id, name);
    this.#parts().toolCalls.push({ id, name, arguments: given });
  }

  async #readResult(item: Item, loc: Loc): Promise<void> {
    const callId = requiredText(fieldOf(item, "call_id", loc));
    const name = this.#names.get(callId);
    if (name === undefined)
      throw invalid({ loc: [...loc, "call_id"] }, "No tool call before this item has this call_id.");
    this.#flush();
    const content = await this.#contentOf(fieldOf(item, "output", loc));
    this.#messages.push({ role: "tool", callId, name, content });
  }

  /** Sealed thoughts of another server are skipped, and the summary is used. */
  #readThoughts(item: Item): void {
    const sealed = item.encrypted_content;
    const opened = typeof sealed === "string" ? this.#reading.openThoughts(sealed) : undefined;
    const reasoning = [...partsOf(item.summary), ...partsOf(item.content)].join("\n");
    const found: Thoughts = opened ?? (reasoning === "" ? {} : { reasoning });
    const parts = this.#parts();
    parts.thoughts = { ...parts.thoughts, ...found };
  }

  async #contentOf(field: Field): Promise<Content> {
    if (field.value === undefined || typeof field.value === "string") return field.value ?? "";
    const parts: ContentPart[] = [];
    for (const [index, value] of (optionalList(field) ?? []).entries()) {
      const part = await this.#partOf({ value, loc: [...field.loc, index] });
      if (part) parts.push(part);
    }
    return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("\n") : parts;
  }

  async #partOf(field: Field): Promise<ContentPart | undefined> {
    const part = requiredRecord(field);
    const type = requiredText(fieldOf(part, "type", field.loc));
    const textField = textFields[type];
    if (textField !== undefined) return { type: "text", text: optionalText(fieldOf(part, textField, field.loc)) ?? "" };
    if (type === "input_image") {
      const url = fieldOf(part, "image_url", field.loc);
      if (url.value === undefined && part.file_id !== undefined)
        throw invalid({ loc: [...field.loc, "file_id"] }, "Images by file_id are not supported. Send image_url.");
      return { type: "image", ...(await this.#reading.readImage(requiredText(url), url.loc)) };
    }
    if (type === "input_file" || type === "input_audio")
      throw invalid({ loc: [...field.loc, "type"] }, `Content of type ${type} is not supported. Send text or images.`);
    return undefined;
  }
}

const textFields: Readonly<Record<string, string>> = {
  input_text: "text",
  output_text: "text",
  text: "text",
  refusal: "refusal",
};

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function partsOf(list: unknown): string[] {
  const parts: unknown[] = Array.isArray(list) ? list : [];
  return parts.flatMap((part) => (isRecord(part) && typeof part.text === "string" ? [part.text] : []));
}
