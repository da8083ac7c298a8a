import { setImmediate as nextTick } from "node:timers/promises";
import type { ChatMessage, ContentPart, ReadImage, ToolCall } from "../../features/predictions/index.ts";
import type { Loc } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { type Field, fieldOf, invalid, missing, requiredRecord, requiredText } from "../doors/body-fields.ts";
import { type Block, blocksOf, contentOf, partsOf, partsOfAll, textOfBlock } from "./read-blocks.ts";

/** Consecutive messages of one role are one turn. Parts are joined once, because there may be many. */
type Turn =
  | { role: "user"; parts: ContentPart[] }
  | { role: "assistant"; texts: string[]; thoughts: string[]; toolCalls: ToolCall[] }
  | Extract<ChatMessage, { role: "tool" }>;

/** Claude Code puts a line for Anthropic's billing there. It changes with each request and would defeat prompt caches. */
const billingLine = /^x-anthropic-billing-header:/;

/** A request may have a million blocks, so other requests get a tick after this many. */
const blocksPerTick = 1_000;

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
  readonly #turns: Turn[] = [];
  /** Names of the tool calls so far, by id: results do not name their tool. */
  readonly #names = new Map<string, string>();
  #blocksRead = 0;

  constructor(readImage: ReadImage) {
    this.#readImage = readImage;
  }

  get messages(): ChatMessage[] {
    if (this.#turns.length === 0) {
      throw invalid({ loc: ["body", "messages"] }, "The messages have no content that this model can read.");
    }
    const content = this.#system.join("\n\n");
    const messages = this.#turns.map(messageOf);
    return content === "" ? messages : [{ role: "system", content }, ...messages];
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
        await this.#countBlock();
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
      await this.#countBlock();
      if (block.value.type === "tool_result") this.#addResult(await this.#resultOf(block));
      else parts.push(...(await partsOf(block, this.#readImage)));
    }
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === "user") for (const part of parts) last.parts.push(part);
    else this.#turns.push({ role: "user", parts });
  }

  async #countBlock(): Promise<void> {
    this.#blocksRead += 1;
    if (this.#blocksRead % blocksPerTick === 0) await nextTick();
  }

  /** Other protocols want the results directly after the calls, before further text of the user. */
  #addResult(result: Turn): void {
    const at = this.#turns.at(-1)?.role === "user" ? -1 : this.#turns.length;
    this.#turns.splice(at, 0, result);
  }

  async #resultOf({ value, loc }: Block): Promise<Turn> {
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
    let text = "";
    let thought = "";
    const toolCalls: ToolCall[] = [];
    for (const block of blocks) {
      const { value, loc } = block;
      if (value.type === "text") text += textOfBlock(block);
      if (value.type === "thinking" && typeof value.thinking === "string") thought += value.thinking;
      if (value.type === "tool_use") toolCalls.push(this.#callOf(value, loc));
    }
    if (text === "" && toolCalls.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role !== "assistant") {
      this.#turns.push({ role: "assistant", texts: [text], thoughts: [thought], toolCalls });
      return;
    }
    last.texts.push(text);
    last.thoughts.push(thought);
    for (const call of toolCalls) last.toolCalls.push(call);
  }

  #callOf(value: Record<string, unknown>, loc: Loc): ToolCall {
    const id = requiredText(fieldOf(value, "id", loc));
    const name = requiredText(fieldOf(value, "name", loc));
    this.#names.set(id, name);
    if (value.input === undefined) throw missing({ loc: [...loc, "input"] });
    return { id, name, arguments: isRecord(value.input) ? value.input : { __invalid: JSON.stringify(value.input) } };
  }
}

function messageOf(turn: Turn): ChatMessage {
  if (turn.role === "tool") return turn;
  if (turn.role === "user") return { role: "user", content: contentOf(turn.parts) };
  const joined = (texts: readonly string[]) => texts.filter((text) => text !== "").join("\n");
  const { texts, thoughts, toolCalls } = turn;
  return { role: "assistant", text: joined(texts), toolCalls, reasoning: joined(thoughts) };
}
