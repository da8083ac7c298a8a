import { Fault, fault, type Issue } from "../../kernel/errors.ts";
import type { McpToolsContext, ToolAnswer, ToolCall } from "./context.ts";

/** A failure as an answer. Failures of the server and of backends are logged. */
export function failureAnswer(
  { log }: Pick<McpToolsContext, "log">,
  { requestId, name }: Pick<ToolCall, "requestId" | "name">,
  error: unknown,
): ToolAnswer {
  const known =
    error instanceof Fault ? error : fault("internal_server_error", "Internal server error", { cause: error });
  if (known.status >= 500) log.error({ request_id: requestId, tool: name, err: known.cause ?? known }, known.message);
  return refusalAnswer(known);
}

const mostIssues = 20;

/** The issues as text for the model, and as data in `meta`. */
export function refusalAnswer(fault: Fault): ToolAnswer {
  const { issues, type, status, retryable, retryAfterSeconds } = fault;
  const lines = issues.slice(0, mostIssues).map(describeIssue);
  if (issues.length > mostIssues) lines.push(`and ${issues.length - mostIssues} more`);
  const seconds = retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(retryAfterSeconds));
  if (seconds !== undefined) lines.push(`Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`);
  else if (retryable) lines.push("The call may succeed later. Try again.");
  const error = { type, status, retryable, ...(seconds !== undefined && { retry_after: seconds }) };
  return { content: [{ type: "text", text: lines.join("\n") }], isError: true, meta: { "gantry/error": error } };
}

/** `argument: message`. The `body` of an HTTP request is not an argument. */
function describeIssue({ loc, msg, type, ctx }: Issue): string {
  const [source, ...path] = loc;
  const where = path.length > 0 ? path.join(".") : source === "body" ? "" : String(source ?? "");
  const allowed = type === "one_of" || ctx === undefined ? "" : limitsOf(ctx);
  return `${where === "" ? "" : `${where}: `}${msg}${allowed}`;
}

function limitsOf(ctx: Record<string, unknown>): string {
  const figures = Object.entries(ctx).filter(([, value]) => typeof value !== "object");
  return figures.length === 0 ? "" : ` (${figures.map(([name, value]) => `${name} ${String(value)}`).join(", ")})`;
}
