import type { RunErrorType } from "@gantry/wire";

/** Why a run is no longer worked on here. The abort signal of a run carries one. */
export class RunStopped extends Error {
  readonly reason: "cancelled" | "timeout" | "lost" | "shutdown";

  constructor(reason: RunStopped["reason"]) {
    super(`The run was stopped: ${reason}`);
    this.name = "RunStopped";
    this.reason = reason;
  }
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
  return new RunFailed("limit_exceeded", "The run has cost as much as it may");
}
