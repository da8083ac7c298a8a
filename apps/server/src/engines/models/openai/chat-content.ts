import { isObject } from "../text/answer.ts";
import { listOf } from "../text/folded-object.ts";

export interface PartedContent {
  text: string;
  thought: string;
}

/** What a message's content says: most servers send text, Mistral's sends parts where its model thinks. */
export function partedContent(content: unknown): PartedContent {
  if (typeof content === "string") return { text: content, thought: "" };
  const parts = listOf(content).filter(isObject);
  return {
    text: parts.map(({ type, text }) => (type !== "thinking" && typeof text === "string" ? text : "")).join(""),
    thought: parts.map(({ type, thinking }) => (type === "thinking" ? partText(thinking) : "")).join(""),
  };
}

function partText(thinking: unknown): string {
  return typeof thinking === "string" ? thinking : partedContent(thinking).text;
}
