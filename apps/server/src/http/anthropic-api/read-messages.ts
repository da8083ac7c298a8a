import type { ChatMessage, ContentPart, ReadImage, ToolCall } from "../../features/predictions/index.ts";
import type { Loc } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { type Field, fieldOf, invalid, missing, requiredRecord, requiredText } from "../doors/body-fields.ts";
import { type Block, blocksOf, contentOf, partsOf, partsOfAll, textOfBlock } from "./read-blocks.ts";

type Assistant = Extract<ChatMessage, { role: "assistant" }>;

/** Claude Code puts a line for Anthropic's billing there. It changes with each request and would defeat prompt caches. */
const billingLine = /^x-anthropic-billing-header:/;

/** Translates system text and messages for backends of other protocols. */
export async function readMessages(
  body: Record<string, unknown>,
  given: readonly unknown[],
  readImage: ReadImage,
): Promise<ChatMessage[]> {
  const reader = new MessagesReader(readImage);
  const system = fieldOf(body, "system");
  if (system.value !== undefined) reader.readSystem(system);
  for (const [index, value] of given.entries()) await reader.read({ value, loc: ["body", "messages", index] });
  return reader.messages;
}

class MessagesReader {
  readonly #readImage: ReadImage;
  readonly #system: string[] = [];
  readonly #turns: ChatMessage[] = [];
  /** Names of the tool calls so far, by id: results do not name their tool. */
  readonly #names = new Map<string, string>();

  constructor(readImage: ReadImage) {
    this.#readImage = readImage;
  }

  get messages(): ChatMessage[] {
    if (this.#turns.length === 0) {
      throw invalid({ loc: ["body", "messages"] }, "The messages have no content that this model can read.");
    }
    const content = this.#system.join("\n\n");
    return content === "" ? this.#turns : [{ role: "system", content }, ...this.#turns];
  }

  readSystem(field: Field): void {
    const texts = blocksOf(field)
      .filter(({ value }) => value.type === "text")
      .map(textOfBlock);
    this.#system.push(...texts.filter((text) => text !== "" && !billingLine.test(text)));
  }

  async read(field: Field): Promise<void> {
    const message = requiredRecord(field);
    const role = requiredText(fieldOf(message, "role", field.loc));
    const content = fieldOf(message, "content", field.loc);
    switch (role) {
      case "user":
        return this.#readUser(blocksOf(content));
      case "assistant":
        return this.#readAssistant(blocksOf(content));
      case "system":
      case "developer":
        return this.readSystem(content);
      default:
        throw invalid(
          { loc: [...field.loc, "role"] },
          "Value is not one of the allowed options: user, assistant, system.",
        );
    }
  }

  async #readUser(blocks: readonly Block[]): Promise<void> {
    const parts: ContentPart[] = [];
    for (const block of blocks) {
      if (block.value.type === "tool_result") this.#addResult(await this.#resultOf(block));
      else parts.push(...(await partsOf(block, this.#readImage)));
    }
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === "user") last.content = contentOf([...partsOfContent(last.content), ...parts]);
    else this.#turns.push({ role: "user", content: contentOf(parts) });
  }

  /** Other protocols want the results directly after the calls, before further text of the user. */
  #addResult(result: ChatMessage): void {
    const at = this.#turns.at(-1)?.role === "user" ? -1 : this.#turns.length;
    this.#turns.splice(at, 0, result);
  }

  async #resultOf({ value, loc }: Block): Promise<ChatMessage> {
    const callId = requiredText(fieldOf(value, "tool_use_id", loc));
    const name = this.#names.get(callId);
    if (name === undefined) {
      const msg = "No assistant message before this one has the tool call of this result.";
      throw invalid({ loc: [...loc, "tool_use_id"] }, msg);
    }
    const content = fieldOf(value, "content", loc);
    const parts = content.value === undefined ? [] : await partsOfAll(blocksOf(content), this.#readImage);
    return { role: "tool", callId, name, content: contentOf(parts), ...(value.is_error === true && { isError: true }) };
  }

  #readAssistant(blocks: readonly Block[]): void {
    const message = { role: "assistant", text: "", toolCalls: [] as ToolCall[], reasoning: "" } satisfies Assistant;
    for (const block of blocks) {
      const { value, loc } = block;
      if (value.type === "text") message.text += textOfBlock(block);
      if (value.type === "thinking" && typeof value.thinking === "string") message.reasoning += value.thinking;
      if (value.type === "tool_use") message.toolCalls.push(this.#callOf(value, loc));
    }
    if (message.text === "" && message.toolCalls.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role !== "assistant") this.#turns.push(message);
    else this.#turns.splice(-1, 1, joined(last, message));
  }

  #callOf(value: Record<string, unknown>, loc: Loc): ToolCall {
    const id = requiredText(fieldOf(value, "id", loc));
    const name = requiredText(fieldOf(value, "name", loc));
    this.#names.set(id, name);
    if (value.input === undefined) throw missing({ loc: [...loc, "input"] });
    return { id, name, arguments: isRecord(value.input) ? value.input : { __invalid: JSON.stringify(value.input) } };
  }
}

function partsOfContent(content: Extract<ChatMessage, { role: "user" }>["content"]): readonly ContentPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Consecutive messages of one role are one turn. */
function joined(first: Assistant, second: Assistant): Assistant {
  const both = (one = "", other = "") => [one, other].filter((text) => text !== "").join("\n");
  return {
    role: "assistant",
    text: both(first.text, second.text),
    toolCalls: [...first.toolCalls, ...second.toolCalls],
    reasoning: both(first.reasoning, second.reasoning),
  };
}
