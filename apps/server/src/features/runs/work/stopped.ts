import type { RunErrorType } from "@gantry/wire";
import { Fault } from "../../../kernel/errors.ts";

/** Why a node stopped working on a run; the reason of the session's abort signal. */
export class RunStopped extends Error {
  readonly reason: "cancelled" | "timeout" | "lost" | "shutdown";

  constructor(reason: RunStopped["reason"]) {
    super(`The run was stopped: ${reason}`);
    this.name = "RunStopped";
    this.reason = reason;
  }
}

/** Whether another node continues the run. It repeats stopped calls and is charged for them. */
export function isHandedOn(reason: unknown): boolean {
  return reason instanceof RunStopped && (reason.reason === "shutdown" || reason.reason === "lost");
}

/** The run ends with this error. The message is public. */
export class RunFailed extends Error {
  readonly type: RunErrorType;

  constructor(type: RunErrorType, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RunFailed";
    this.type = type;
  }
}

export function maxCostReached(): RunFailed {
  return new RunFailed("limit_exceeded", "The cost limit of the run does not cover the next call. Increase max_cost.");
}

export function keyRevoked(cause?: unknown): RunFailed {
  return new RunFailed("internal", "The API key that started the run is no longer valid", cause);
}

export function failureOf(error: unknown): RunFailed {
  if (error instanceof RunFailed) return error;
  if (error instanceof Fault && error.type === "insufficient_funds") {
    return new RunFailed("insufficient_funds", error.message, error);
  }
  if (error instanceof Fault && error.status < 500) return new RunFailed("invalid_input", error.message, error);
  return new RunFailed("internal", "The run failed because of an internal error", error);
}
