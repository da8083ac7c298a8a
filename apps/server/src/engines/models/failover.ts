import { Fault, isUnavailable } from "../../kernel/errors.ts";
import { longestWaitMs, UpstreamFailure, UpstreamLost } from "./upstream.ts";
import { isTemporary } from "./upstream-status.rules.ts";

export { backoffAfter, longestWaitMs } from "./upstream.ts";

/** A failure that another backend of the same model may not have. */
export interface Failover {
  /** A status, or why no answer arrived. Few values, for figures. */
  reason: string;
  /** The upstream works, but all its slots are taken. */
  isBusy: boolean;
  /** Whether the same backend may be asked again within the call. */
  mayRepeat: boolean;
  /** The upstream asked for this time. */
  retryAfterMs?: number | undefined;
}

/**
 * A revoked key or an exhausted credit of one vendor. The others answer, and the owner sees the failures in the figures of
 * the backend.
 */
const refusedCredential: ReadonlySet<number> = new Set([401, 402, 403]);
const busy = 409;

/**
 * Undefined if no other backend may answer: the request or its content was refused, or the call may have run. `runsOnce`: a
 * call that the backend began must not run again elsewhere, because it makes files and takes minutes.
 */
export function failoverOf(error: unknown, { runsOnce }: { runsOnce: boolean }): Failover | undefined {
  if (!(error instanceof Fault) || !error.type.startsWith("downstream_service_")) return undefined;
  const { cause } = error;
  if (cause instanceof UpstreamLost) return lost(cause, runsOnce);
  return cause instanceof UpstreamFailure ? answered(cause, runsOnce) : undefined;
}

function lost({ reason }: UpstreamLost, runsOnce: boolean): Failover | undefined {
  if (reason === "timeout") return { reason, isBusy: false, mayRepeat: false };
  const isUnreached = reason === "unreachable" || (reason === "cut" && !runsOnce);
  return isUnreached ? { reason, isBusy: false, mayRepeat: true } : undefined;
}

function answered(failure: UpstreamFailure, runsOnce: boolean): Failover | undefined {
  const { status, retryAfterMs } = failure;
  const reason = String(status);
  if (refusedCredential.has(status)) {
    return isModeration(failure) ? undefined : { reason, isBusy: false, mayRepeat: false };
  }
  if (runsOnce && status === busy) return { reason, isBusy: true, mayRepeat: true };
  if (!isTemporary(status) && (runsOnce || status < 500)) return undefined;
  return { reason, isBusy: false, mayRepeat: (retryAfterMs ?? 0) <= longestWaitMs, retryAfterMs };
}

/** What a failure says about its backend. A refused request or refused content is an answer, and has a cause. */
export function verdictOf(error: unknown): "failed" | "answered" | "unknown" {
  if (!(error instanceof Fault) || isUnavailable(error)) return "unknown";
  const { cause } = error;
  if (!error.type.startsWith("downstream_service_")) return cause === undefined ? "unknown" : "answered";
  return cause instanceof UpstreamFailure && cause.status >= 400 && cause.status < 500 ? "answered" : "failed";
}

/** OpenRouter answers 403 to an input that its moderation refuses. */
function isModeration({ status, body }: UpstreamFailure): boolean {
  return status === 403 && /"flagged_input"\s*:/.test(body);
}
