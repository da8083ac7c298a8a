import type { ToolCallPiece } from "../../features/predictions/index.ts";
import {
  type Item,
  itemIdsOf,
  nothingYet,
  type Turn,
  type TurnEnd,
  visibleItems,
} from "../../features/responses/index.ts";
import type { ChatAnswered, ChatEvents } from "../doors/chat-door.ts";
import type { DoorError } from "../doors/door-error.ts";
import { openaiError } from "./openai-dialect.ts";
import { responseBody } from "./responses-body.ts";

type Begun = Pick<Turn, "id" | "createdAt" | "modelName" | "request">;

interface EventOptions {
  begun: Begun;
  withSealed: boolean;
  customTools: ReadonlySet<string>;
  /** The end of the turn. Items that were streamed keep their order. */
  endOf(end: ChatAnswered, order: readonly string[]): TurnEnd & Pick<Turn, "request">;
}

interface StreamedCall {
  id: string;
  isCustom: boolean;
  json: string;
}

/**
 * The events of one response. Items begin as their first piece arrives, and all of them end with the response, because
 * thoughts are sealed only then and clients keep items in the order of their ends.
 *
 *   created, in_progress ──► items added, deltas ──► items done ──► completed | incomplete
 *                                    └────────────────────────────► failed
 */
export class ResponseEvents implements ChatEvents {
  readonly #options: EventOptions;
  readonly #ids: ReturnType<typeof itemIdsOf>;
  readonly #order: string[] = [];
  readonly #calls = new Map<number, StreamedCall>();
  /** Texts of the parts of the reasoning summary. The last one may be open. */
  readonly #summary: string[] = [];
  #isSummaryOpen = false;
  #text = "";
  #sequence = 0;
  #isBegun = false;

  constructor(options: EventOptions) {
    this.#options = options;
    this.#ids = itemIdsOf(options.begun.id);
  }

  get order(): readonly string[] {
    return this.#order;
  }

  text(text: string): string {
    this.#text += text;
    return this.#begin() + this.#endSummary() + this.#addMessage() + this.#textDelta(text);
  }

  reasoning(text: string): string {
    const opened = this.#begin() + this.#addReasoning();
    const part = this.#isSummaryOpen ? "" : this.#beginSummary();
    const index = this.#summary.length - 1;
    this.#summary[index] += text;
    return opened + part + this.#summaryEvent("text.delta", index, { delta: text });
  }

  toolCall({ index, id: callId, name, arguments: piece }: ToolCallPiece): string {
    let events = this.#begin() + this.#endSummary();
    let call = this.#calls.get(index);
    if (!call) {
      const isCustom = this.#options.customTools.has(name);
      call = { id: this.#ids.call(index, isCustom), isCustom, json: "" };
      this.#calls.set(index, call);
      events += this.#add(openCall(call, { callId, name }));
    }
    call.json += piece;
    // The text of a custom tool is inside the JSON, so it is sent when the JSON is complete.
    if (piece === "" || call.isCustom) return events;
    return events + this.#itemEvent("response.function_call_arguments.delta", call.id, { delta: piece });
  }

  end(answered: ChatAnswered): string {
    const { begun, withSealed } = this.#options;
    const end = this.#options.endOf(answered, this.#order);
    const output = visibleItems(end.output, withSealed).map((item) => this.#asStreamed(item));
    let events = this.#begin() + this.#endSummary();
    for (const item of output) events += this.#addWhole(item) + this.#endItem(item);
    const body = responseBody({ ...begun, ...end, output, endedAt: new Date() }, withSealed);
    return events + this.#event(`response.${end.status}`, { response: body });
  }

  failed(error: DoorError): string {
    const { code, message } = openaiError(error);
    const isKnown = code === "rate_limit_exceeded" || code === "insufficient_quota";
    const ofRequest = error.status < 500 ? "invalid_prompt" : "server_error";
    const failure = { code: isKnown ? code : ofRequest, message };
    return (
      this.#begin() + this.#event("response.failed", { response: this.#bodyOf({ status: "failed", error: failure }) })
    );
  }

  #begin(): string {
    if (this.#isBegun) return "";
    this.#isBegun = true;
    const response = this.#bodyOf({});
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  #bodyOf(end: Partial<TurnEnd>): Record<string, unknown> {
    return responseBody({ ...this.#options.begun, ...nothingYet, ...end, endedAt: null }, false);
  }

  #event(type: string, fields: Record<string, unknown>): string {
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields });
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  #itemEvent(type: string, id: string, fields: Record<string, unknown>): string {
    return this.#event(type, { item_id: id, output_index: this.#order.indexOf(id), ...fields });
  }

  /** Sent for each token, so it is written without an object. */
  #textDelta(text: string): string {
    const at = this.#order.indexOf(this.#ids.message);
    const sequence = this.#sequence++;
    return `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${sequence},"item_id":"${this.#ids.message}","output_index":${at},"content_index":0,"delta":${JSON.stringify(text)},"logprobs":[]}\n\n`;
  }

  #add(item: Item): string {
    this.#order.push(String(item.id));
    return this.#event("response.output_item.added", { output_index: this.#order.length - 1, item });
  }

  #isAdded(id: string): boolean {
    return this.#order.includes(id);
  }

  #addMessage(): string {
    const { message: id } = this.#ids;
    if (this.#isAdded(id)) return "";
    const item = { id, type: "message", role: "assistant", status: "in_progress", content: [] };
    return (
      this.#add(item) + this.#itemEvent("response.content_part.added", id, { content_index: 0, part: textPart("") })
    );
  }

  #addReasoning(): string {
    const { reasoning: id } = this.#ids;
    return this.#isAdded(id) ? "" : this.#add({ id, type: "reasoning", summary: [] });
  }

  #beginSummary(): string {
    this.#isSummaryOpen = true;
    const index = this.#summary.push("") - 1;
    return this.#summaryEvent("part.added", index, { part: summaryPart("") });
  }

  /** Thoughts that follow other output are another part of the summary. */
  #endSummary(): string {
    if (!this.#isSummaryOpen) return "";
    this.#isSummaryOpen = false;
    const index = this.#summary.length - 1;
    const text = this.#summary[index] ?? "";
    const done = this.#summaryEvent("text.done", index, { text });
    return done + this.#summaryEvent("part.done", index, { part: summaryPart(text) });
  }

  #summaryEvent(what: string, index: number, fields: Record<string, unknown>): string {
    return this.#itemEvent(`response.reasoning_summary_${what}`, this.#ids.reasoning, {
      summary_index: index,
      ...fields,
    });
  }

  /** The item with the texts that the client has received. */
  #asStreamed(item: Item): Item {
    if (item.type === "reasoning" && this.#summary.length > 0)
      return { ...item, summary: this.#summary.map(summaryPart) };
    if (item.type !== "function_call") return item;
    const streamed = [...this.#calls.values()].find(({ id }) => id === item.id)?.json;
    return streamed ? { ...item, arguments: streamed } : item;
  }

  /** What was not streamed of an item. */
  #addWhole(item: Item): string {
    const id = String(item.id);
    switch (item.type) {
      case "message": {
        const opened = this.#addMessage();
        const text = textOf(item);
        return this.#text === "" && text !== "" ? opened + this.#textDelta(text) : opened;
      }
      case "reasoning":
        return this.#addReasoning();
      default:
        return this.#isAdded(id)
          ? ""
          : this.#add({ ...item, ...("input" in item ? { input: "" } : { arguments: "" }) });
    }
  }

  #endItem(item: Item): string {
    const id = String(item.id);
    let events = "";
    if (item.type === "message") {
      const text = textOf(item);
      events += this.#itemEvent("response.output_text.done", id, { content_index: 0, text, logprobs: [] });
      events += this.#itemEvent("response.content_part.done", id, { content_index: 0, part: textPart(text) });
    } else if (item.type === "function_call") {
      events += this.#itemEvent("response.function_call_arguments.done", id, {
        name: item.name,
        arguments: item.arguments,
      });
    } else if (item.type === "custom_tool_call") {
      events += this.#itemEvent("response.custom_tool_call_input.delta", id, { delta: item.input });
      events += this.#itemEvent("response.custom_tool_call_input.done", id, { input: item.input });
    }
    return events + this.#event("response.output_item.done", { output_index: this.#order.indexOf(id), item });
  }
}

function openCall({ id, isCustom }: StreamedCall, { callId, name }: { callId: string; name: string }): Item {
  if (isCustom) return { id, type: "custom_tool_call", call_id: callId, name, input: "" };
  return { id, type: "function_call", status: "in_progress", call_id: callId, name, arguments: "" };
}

function textPart(text: string): Item {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function summaryPart(text: string): Item {
  return { type: "summary_text", text };
}

function textOf(item: Item): string {
  const [part] = item.content as { text: string }[];
  return part?.text ?? "";
}
