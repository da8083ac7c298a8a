import type { TraceStepDetail } from "@gantry/sdk";
import { pretty } from "../../../ui/json.rules.ts";

export type Shown = { kind: "json" | "text"; text: string };

/** JSON is formatted; other text is shown as Markdown. */
export function shownText(text: string): Shown {
  // Numbers and quoted words are JSON too, but read better as text.
  if (!/^\s*[[{]/.test(text)) return { kind: "text", text };
  try {
    return { kind: "json", text: pretty(JSON.parse(text)) };
  } catch {
    return { kind: "text", text };
  }
}

export interface ShownAnswer {
  text: string;
  reasoning: string;
  calls: { id: string; tool: string; arguments: string | undefined }[];
}

/** What a model answered, without what it left out. */
export function shownAnswer(message: TraceStepDetail["message"]): ShownAnswer {
  const { text, reasoning, tool_calls } = message ?? {};
  return {
    text: text ?? "",
    reasoning: reasoning ?? "",
    calls: (tool_calls ?? []).map(({ call_id, tool, arguments: given }) => ({
      id: call_id,
      tool,
      arguments: given && pretty(given),
    })),
  };
}

const longestPreview = 120;

export function preview(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > longestPreview ? `${line.slice(0, longestPreview)}…` : line;
}
