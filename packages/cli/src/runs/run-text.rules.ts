import type { ConfirmationRecord, RunEvent, RunRecord, RunText } from "@gantry/sdk";
import { count, money, seconds } from "../frame/format.rules.ts";
import { sliced } from "../frame/table.rules.ts";

/** The text of the output, or the output as JSON. */
export function resultText(output: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(output);
  return keys.length === 1 && typeof output.text === "string" ? output.text : JSON.stringify(output, null, 2);
}

/** Such as `drive_read path=/a.txt limit=3`. Long values are cut: the trace has them whole. */
export function callText(tool: string, given: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(given).map(([key, value]) => `${key}=${shortValue(value)}`);
  return shortened([tool, ...shown].join(" "), longestLine);
}

const longestLine = 200;
const longestValue = 80;

function shortValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return shortened(/[\s"]/.test(text) && typeof value === "string" ? JSON.stringify(text) : text, longestValue);
}

export function shortened(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const longestResult = 160;

/** An event in one line; undefined for events that this version does not know. */
export function eventText(event: RunEvent): string | undefined {
  switch (event.type) {
    case "tool_call":
      return `→ ${callText(event.data.tool, event.data.arguments)}`;
    case "tool_result":
      return `← ${event.data.tool}: ${shortened(event.data.result, longestResult)}`;
    case "confirmation_required":
      return `? ${event.data.tool} needs an approval (${event.data.confirmation_id})`;
    case "confirmation_resolved": {
      const { tool, status, reason } = event.data;
      return `? ${tool} was ${status}${reason ? `: ${reason}` : ""}`;
    }
    case "planning":
    case "reasoning":
    case "compressed":
      return event.data.message;
    case "completed":
      return "done";
    case "error":
      return `failed: ${event.data.message}`;
    default:
      return undefined;
  }
}

/** Such as `done in 12.3 s, $0.0012, 1,200 tokens in, 34 out`. */
export function runFacts(run: Pick<RunRecord, "status" | "worked_ms" | "waited_ms" | "cost" | "usage">): string {
  const { status, worked_ms, waited_ms, cost, usage } = run;
  const facts = [
    `${status === "error" ? "failed" : status} in ${seconds((worked_ms + waited_ms) / 1000)}`,
    waited_ms >= 1000 ? `waited ${seconds(waited_ms / 1000)}` : "",
    cost === undefined ? "" : money(cost),
    usage ? `${count(usage.input_tokens)} tokens in, ${count(usage.output_tokens)} out` : "",
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

/** What of a piece of text is new. A connection that was resumed repeats the text of the current call. */
export function createTextReader(): (piece: RunText) => { text: string; isNewCall: boolean } {
  let call: string | undefined;
  let length = 0;
  return ({ call_id, text, offset }) => {
    const isNewCall = call !== call_id;
    if (isNewCall) length = 0;
    call = call_id;
    const known = offset === undefined ? 0 : Math.max(0, length - offset);
    const fresh = text.slice(known);
    length = Math.max(length, (offset ?? length) + text.length);
    return { text: fresh, isNewCall };
  };
}

/** A longer question would push itself out of the terminal. */
const mostPreviewLines = 100;

/**
 * What a tool would do, for the person who is asked. Lines of at most `width` cells: one that the terminal wraps could
 * look like a question of the command.
 */
export function previewLines(
  confirmation: Pick<ConfirmationRecord, "arguments" | "details">,
  width = usualWidth,
): string[] {
  const whole = writeLines(confirmation.details) ?? [
    ...jsonLines("Arguments", confirmation.arguments),
    ...(confirmation.details ? jsonLines("Effects", confirmation.details) : []),
  ];
  const lines = whole.flatMap((line) => wrappedTo(Math.max(narrowest, width), line));
  const more = lines.length - mostPreviewLines;
  return more > 0 ? [...lines.slice(0, mostPreviewLines), `… ${more} more lines`] : lines;
}

const usualWidth = 120;
const narrowest = 20;

function wrappedTo(width: number, line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  do {
    const piece = sliced(rest, width);
    lines.push(piece);
    rest = rest.slice(piece.length);
  } while (rest !== "");
  return lines;
}

/** A write of the identity connector: the request, and what it changes. */
function writeLines(details: ConfirmationRecord["details"]): string[] | undefined {
  const { tenant, method, path, description, body, destructive, changes, warnings } = details ?? {};
  if (typeof tenant !== "string" || typeof method !== "string" || typeof path !== "string") return undefined;
  const changed = typeof changes === "object" && changes !== null ? Object.entries(changes) : [];
  return [
    ...(typeof description === "string" ? [plainText(description)] : []),
    plainText(`${method} ${path} on ${tenant}`),
    ...(destructive === true ? ["This cannot be undone."] : []),
    ...changed.map(([field, change]) => `${plainText(field)}: ${changeText(change)}`),
    ...(changed.length === 0 && body !== undefined && body !== null ? jsonLines("Body", body) : []),
    ...(Array.isArray(warnings) ? warnings.map((warning) => `Warning: ${plainText(warning)}`) : []),
  ];
}

function changeText(change: unknown): string {
  if (typeof change !== "object" || change === null || !("new" in change)) return plainText(change);
  return "old" in change ? `${plainText(change.old)} → ${plainText(change.new)}` : plainText(change.new);
}

/** In one line: a value with line ends or tabs could look like lines of the command. */
const plainText = (value: unknown): string =>
  typeof value === "string" && !/[\r\n\t]/.test(value) ? value : JSON.stringify(value);

function jsonLines(title: string, value: unknown): string[] {
  return `${title}: ${JSON.stringify(value, null, 2)}`.split("\n");
}
