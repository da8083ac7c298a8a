import type { ModelResult, StopReason } from "../../../engines/models/driver.ts";
import { type Attributes, boundedContent } from "../../../engines/telemetry/telemetry.ts";
import { isRecord } from "../../../kernel/is-record.ts";

/** A part of a message in OpenTelemetry's conventions for generative AI. */
type Part =
  | { type: "text"; content: string }
  | { type: "tool_call"; id: unknown; name: unknown; arguments: unknown }
  | { type: "tool_call_response"; id: unknown; response: unknown };

interface Message {
  role: string;
  parts: Part[];
  finish_reason?: string;
}

/** Of one attribute, in characters of JSON. Earlier messages are left out first. */
const mostChars = 64 * 1024;

/** What a model was asked. `kept` is the input as it is kept with results: without images and credentials. */
export function inputAttributes(kept: Readonly<Record<string, unknown>>): Attributes {
  const messages = messagesOf(kept);
  const instructions = [
    ...partsOf(kept.system),
    ...messages.filter(({ role }) => role === "system").flatMap(({ parts }) => parts),
  ];
  return {
    "gen_ai.input.messages": lastOf(messages.filter(({ role }) => role !== "system")),
    "gen_ai.system_instructions": instructions.length === 0 ? undefined : lastOf(instructions),
  };
}

/** What it answered. Files are not content. */
export function outputAttributes({ output, stop }: ModelResult): Attributes {
  const { reply, answer, ...others } = output;
  const structured = [reply, answer].find(isRecord) ?? {};
  const text = typeof structured.text === "string" ? structured.text : Object.values(others).find(isText);
  const parts = [...partsOf(text), ...callsOf(structured.toolCalls)];
  if (parts.length === 0) return {};
  const reason = stop && { finish_reason: finishReasons[stop] };
  return { "gen_ai.output.messages": lastOf([{ role: "assistant", parts, ...reason }]) };
}

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "stop",
  stop_sequence: "stop",
  length: "length",
  tool_calls: "tool_call",
  refused: "content_filter",
};

export function finishAttributes(stop: StopReason | undefined): Attributes {
  return stop === undefined ? {} : { "gen_ai.response.finish_reasons": [finishReasons[stop]] };
}

function messagesOf({ messages, prompt, ...others }: Readonly<Record<string, unknown>>): Message[] {
  if (Array.isArray(messages)) return messages.filter(isRecord).map(messageOf);
  const text = isText(prompt) ? prompt : JSON.stringify(others);
  return [{ role: "user", parts: partsOf(text) }];
}

/** Of the form in which conversations are kept, and of requests in OpenAI's and Anthropic's form. */
function messageOf(message: Record<string, unknown>): Message {
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  if (role === "tool") return { role, parts: [{ type: "tool_call_response", id, response: shortened(content) }] };
  const asked = role === "developer" ? "system" : isText(role) ? role : "user";
  return { role: asked, parts: [...partsOf(content), ...callsOf(calls)] };
}

function partsOf(content: unknown): Part[] {
  if (isText(content)) return content === "" ? [] : [{ type: "text", content: boundedContent(content) }];
  if (!Array.isArray(content)) return [];
  return content.filter(isRecord).flatMap((part): Part[] => {
    if (part.type === "tool_use") return callsOf([part]);
    if (part.type === "tool_result")
      return [{ type: "tool_call_response", id: part.tool_use_id, response: shortened(part.content) }];
    return isText(part.text) ? partsOf(part.text) : [];
  });
}

function callsOf(calls: unknown): Part[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isRecord).map((call) => {
    const called = isRecord(call.function) ? call.function : call;
    const given = called.arguments ?? called.input;
    return { type: "tool_call", id: call.id, name: called.name, arguments: shortened(given) };
  });
}

function shortened(value: unknown): unknown {
  const json = isText(value) ? value : (JSON.stringify(value) ?? "");
  const shown = boundedContent(json);
  return shown === json ? value : shown;
}

/** JSON of the last entries that fit. */
function lastOf(entries: readonly unknown[]): string {
  const fitting: string[] = [];
  let left = mostChars;
  for (const json of entries.map((entry) => JSON.stringify(entry)).reverse()) {
    left -= json.length;
    if (left < 0 && fitting.length > 0) break;
    fitting.unshift(json);
  }
  return `[${fitting.join(",")}]`;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
