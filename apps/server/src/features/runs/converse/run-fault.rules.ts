import type { ErrorType, RunErrorType } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { Run } from "../run.ts";

/** What the error of a run is to a client that waits for an answer. A retry would run, and pay for, everything again. */
const faultTypes: Record<RunErrorType, ErrorType> = {
  insufficient_funds: "insufficient_funds",
  limit_exceeded: "downstream_service_error",
  tool_error: "downstream_service_error",
  timeout: "generation_timeout",
  // A model that failed, refused, or never answered as the agent's schema wants. Our own errors are logged where they occur.
  internal: "downstream_service_error",
  cancelled: "generation_cancelled",
  invalid_input: "value_error",
};

/** Every fault of an existing run names it. */
export function faultOfRun(
  { id }: Pick<Run, "id">,
  type: ErrorType,
  msg: string,
  { ctx, retryable = false, cause }: { ctx?: Record<string, unknown>; retryable?: boolean; cause?: unknown } = {},
): Fault {
  return fault(type, msg, { ctx: { run_id: id, ...ctx }, retryable, headers: { [runIdHeader]: id }, cause });
}

const runIdHeader = "x-gantry-run-id";

export function faultOfError(run: Pick<Run, "id" | "error">): Fault {
  const { type, message } = run.error ?? { type: "internal", message: "The run ended without a result" };
  return faultOfRun(run, faultTypes[type], message, { ctx: { run_error: type } });
}
