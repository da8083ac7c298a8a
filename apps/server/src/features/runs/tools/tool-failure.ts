import { Fault, type Issue, isUnavailable } from "../../../kernel/errors.ts";
import type { ToolOutcome } from "./run-tool.ts";

export function failedWith(text: string): ToolOutcome {
  return { text, isError: true };
}

/** The outcome for a fault in the arguments or upstream. Throws on an abort and on failures of the platform. */
export function outcomeOfFailure(error: unknown, signal: AbortSignal): ToolOutcome {
  signal.throwIfAborted();
  if (!(error instanceof Fault) || isPlatformFault(error)) throw error;
  return failedWith(explainFault(error));
}

/** The same for a call that failed before it was made. */
export function notCalled(error: unknown, signal: AbortSignal): string {
  return `${outcomeOfFailure(error, signal).text}\nThe tool was not called.`;
}

function isPlatformFault(error: Fault): boolean {
  return error.type === "internal_server_error" || isUnavailable(error);
}

export function explainFault({ issues, retryAfterSeconds }: Fault): string {
  const lines = issues.map(explainIssue);
  if (retryAfterSeconds !== undefined) lines.push(`Try again after ${Math.ceil(retryAfterSeconds)} seconds.`);
  return lines.join("\n");
}

export function explainIssue({ loc, msg, ctx }: Issue): string {
  // The model did not write the path of a request.
  const path = loc[0] === "path" ? [] : loc.filter((step, at) => at > 0 || step !== "body");
  const where = path.join(".").replace(/^arguments\.?/, "");
  // Values in the message are not repeated.
  const more = Object.entries(ctx ?? {}).filter(([, value]) => typeof value !== "string" || !msg.includes(value));
  const details = more.length > 0 ? ` ${JSON.stringify(Object.fromEntries(more))}` : "";
  return `${where === "" ? "" : `${where}: `}${msg}${details}`;
}
