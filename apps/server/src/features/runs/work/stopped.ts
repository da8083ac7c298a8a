import type { RunErrorType } from "@gantry/wire";
import { Fault } from "../../../kernel/errors.ts";

/** Why a run is no longer worked on here. The abort signal of a run carries one. */
export class RunStopped extends Error {
  readonly reason: "cancelled" | "timeout" | "lost" | "shutdown";

  constructor(reason: RunStopped["reason"]) {
    super(`The run was stopped: ${reason}`);
    this.name = "RunStopped";
    this.reason = reason;
  }
}

/**
 * Whether the run goes on elsewhere, because this node goes down or lost it. Whatever the signal stopped is then made
 * again there, and is paid there alone.
 */
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

export function costsTooMuch(): RunFailed {
  return new RunFailed("limit_exceeded", "What the run may cost does not cover what comes next");
}

export function keyIsGone(cause?: unknown): RunFailed {
  return new RunFailed("internal", "The API key that started the run is no longer valid", cause);
}

/** What a run ends with when the work on it rejected. */
export function failureOf(error: unknown): RunFailed {
  if (error instanceof RunFailed) return error;
  if (error instanceof Fault && error.type === "insufficient_funds") {
    return new RunFailed("insufficient_funds", error.message, error);
  }
  if (error instanceof Fault && error.status < 500) return new RunFailed("invalid_input", error.message, error);
  return new RunFailed("internal", "The platform failed to carry the run on", error);
}
