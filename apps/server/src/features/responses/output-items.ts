import { isRecord } from "../../kernel/is-record.ts";
import type { Reply, ToolCall } from "../predictions/index.ts";
import type { Item } from "./response.ts";

/** Ids of output items contain that of their response, so that a reference is found by the primary key. */
export interface ItemIds {
  reasoning: string;
  message: string;
  call(index: number, isCustom: boolean): string;
}

export function itemIdsOf(responseId: string): ItemIds {
  const own = responseId.slice("resp_".length);
  return {
    reasoning: `rs_${own}`,
    message: `msg_${own}`,
    call: (index, isCustom) => `${isCustom ? "ctc" : "fc"}_${own}_${index}`,
  };
}

/** The response that an output item belongs to. */
export function responseOfItem(itemId: string): string | undefined {
  const [, own] = /^(?:rs|msg|fc|ctc)_([0-9a-z]{26})(?:_\d+)?$/.exec(itemId) ?? [];
  return own === undefined ? undefined : `resp_${own}`;
}

/** Names of the tools that take text instead of JSON. */
export function customToolsIn(tools: unknown): ReadonlySet<string> {
  const list: unknown[] = Array.isArray(tools) ? tools : [];
  return new Set(
    list.flatMap((tool) =>
      isRecord(tool) && tool.type === "custom" && typeof tool.name === "string" ? [tool.name] : [],
    ),
  );
}

/** The field of a custom tool's arguments that contains its text. */
export const customInput = "input";

interface Written {
  responseId: string;
  customTools: ReadonlySet<string>;
  /** Thoughts as only this server can read them. */
  sealed: string | undefined;
  /** Ids of items that were streamed, in their order. */
  order?: readonly string[];
}

export function outputItemsOf(reply: Reply, { responseId, customTools, sealed, order = [] }: Written): Item[] {
  const { text, reasoning, toolCalls, stop } = reply;
  const ids = itemIdsOf(responseId);
  const status = stop === "length" || stop === "refused" ? "incomplete" : "completed";
  const items: Item[] = [
    ...(reasoning !== "" || sealed !== undefined ? [reasoningItem(ids.reasoning, reasoning, sealed)] : []),
    ...(text !== "" || toolCalls.length === 0 ? [messageItem(ids.message, text, status)] : []),
    ...toolCalls.map((call, index) => {
      const isCustom = customTools.has(call.name);
      return callItem(ids.call(index, isCustom), call, isCustom);
    }),
  ];
  const place = ({ id }: Item) => {
    const at = order.indexOf(String(id));
    return at === -1 ? order.length : at;
  };
  return items.sort((one, other) => place(one) - place(other));
}

function reasoningItem(id: string, text: string, sealed: string | undefined): Item {
  return {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(sealed !== undefined && { encrypted_content: sealed }),
  };
}

function messageItem(id: string, text: string, status: string): Item {
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return { id, type: "message", role: "assistant", status, content: [part] };
}

function callItem(id: string, call: ToolCall, isCustom: boolean): Item {
  const { id: callId, name, arguments: given } = call;
  if (isCustom) return { id, type: "custom_tool_call", call_id: callId, name, input: customText(given) };
  const json = typeof given.__invalid === "string" ? given.__invalid : JSON.stringify(given);
  return { id, type: "function_call", status: "completed", call_id: callId, name, arguments: json };
}

function customText(given: ToolCall["arguments"]): string {
  const { [customInput]: text, __invalid: raw } = given;
  if (typeof text === "string") return text;
  return typeof raw === "string" ? raw : JSON.stringify(given);
}

/** What the client sees: sealed thoughts only if it asked for them. */
export function visibleItems(items: readonly Item[], withSealed: boolean): Item[] {
  if (withSealed) return [...items];
  return items.flatMap((item) => {
    if (item.type !== "reasoning") return [item];
    const { encrypted_content: _, ...rest } = item;
    return Array.isArray(item.summary) && item.summary.length === 0 ? [] : [rest];
  });
}
