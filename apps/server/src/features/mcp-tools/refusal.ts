import { Fault, fault, type Issue } from "../../kernel/errors.ts";
import type { McpToolsContext, ToolAnswer, ToolCall } from "./context.ts";

/** What went wrong as an answer; what is our fault, or a backend's, is logged too. */
export function tellFailure(
  { log }: Pick<McpToolsContext, "log">,
  { requestId, name }: Pick<ToolCall, "requestId" | "name">,
  error: unknown,
): ToolAnswer {
  const known =
    error instanceof Fault ? error : fault("internal_server_error", "Internal server error", { cause: error });
  if (known.status >= 500) log.error({ request_id: requestId, tool: name, err: known.cause ?? known }, known.message);
  return refusal(known);
}

/** A model reads these; more would not help it. */
const mostIssues = 20;

/** What is wrong, in words for whoever called, and as figures beside them. */
export function refusal(fault: Fault): ToolAnswer {
  const { issues, type, status, retryable, retryAfterSeconds } = fault;
  const lines = issues.slice(0, mostIssues).map(lineOf);
  if (issues.length > mostIssues) lines.push(`and ${issues.length - mostIssues} more`);
  const seconds = retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(retryAfterSeconds));
  if (seconds !== undefined) lines.push(`Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`);
  else if (retryable) lines.push("The same call may succeed when it is made again later.");
  const error = { type, status, retryable, ...(seconds !== undefined && { retry_after: seconds }) };
  return { content: [{ type: "text", text: lines.join("\n") }], isError: true, meta: { "gantry/error": error } };
}

/** The argument that is wrong stands before what is wrong with it; the `body` of an HTTP request is none. */
function lineOf({ loc, msg, type, ctx }: Issue): string {
  const [place, ...path] = loc;
  const where = path.length > 0 ? path.join(".") : place === "body" ? "" : String(place ?? "");
  const allowed = type === "one_of" || ctx === undefined ? "" : figuresOf(ctx);
  return `${where === "" ? "" : `${where}: `}${msg}${allowed}`;
}

function figuresOf(ctx: Record<string, unknown>): string {
  const figures = Object.entries(ctx).filter(([, value]) => typeof value !== "object");
  return figures.length === 0 ? "" : ` (${figures.map(([name, value]) => `${name} ${String(value)}`).join(", ")})`;
}
