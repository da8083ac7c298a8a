import type { ToolCall } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { isWithinDepth } from "../../kernel/storable-issues.ts";

/** The arguments of a tool call that a client sends back as JSON text. Text that is not an object is kept. */
export function parseArguments(json: string): ToolCall["arguments"] {
  if (json.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value) && isWithinDepth(value)) return value;
  } catch {
    // The client has sent what a model wrote.
  }
  return { __invalid: json };
}

/** The arguments of a tool call as the model wrote them. */
export function argumentsText({ arguments: given }: ToolCall): string {
  return typeof given.__invalid === "string" ? given.__invalid : JSON.stringify(given);
}
