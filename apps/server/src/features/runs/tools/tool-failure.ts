import { Fault, type Issue } from "../../../kernel/errors.ts";
import type { ToolOutcome } from "./run-tool.ts";

export function failedWith(text: string): ToolOutcome {
  return { text, isError: true };
}

/**
 * What a fault means for a tool: everything about the arguments and the far side is told to the model. What the platform
 * itself fails with, and an abort, is thrown on.
 */
export function outcomeOfFailure(error: unknown, signal: AbortSignal): ToolOutcome {
  signal.throwIfAborted();
  if (!(error instanceof Fault) || isOurOwn(error)) throw error;
  return failedWith(explainFault(error));
}

/** The same of a call that was only looked at beforehand. */
export function notCalled(error: unknown, signal: AbortSignal): string {
  return `${outcomeOfFailure(error, signal).text}\nThe tool was not called.`;
}

function isOurOwn({ type }: Fault): boolean {
  return type === "internal_server_error" || type === "service_unavailable";
}

/** Every issue on a line of its own: where, what, and what is known beside. */
export function explainFault({ issues, retryAfterSeconds }: Fault): string {
  const lines = issues.map(explainIssue);
  if (retryAfterSeconds !== undefined) lines.push(`Repeat after ${Math.ceil(retryAfterSeconds)} seconds.`);
  return lines.join("\n");
}

export function explainIssue({ loc, msg, ctx }: Issue): string {
  // A place in the path of a request is none that a model has written.
  const place = loc[0] === "path" ? [] : loc.filter((step, at) => at > 0 || step !== "body");
  const where = place.join(".").replace(/^arguments\.?/, "");
  // What the message says already is not said twice.
  const more = Object.entries(ctx ?? {}).filter(([, value]) => typeof value !== "string" || !msg.includes(value));
  const details = more.length > 0 ? ` ${JSON.stringify(Object.fromEntries(more))}` : "";
  return `${where === "" ? "" : `${where}: `}${msg}${details}`;
}
