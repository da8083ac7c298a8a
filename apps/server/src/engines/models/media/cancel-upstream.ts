import { setTimeout as sleep } from "node:timers/promises";
import type { NetRequest } from "../../net/net.ts";
import type { MediaBackend } from "./call.ts";

export interface Cancelling {
  /** Resolves once the upstream has answered the cancel request, or after 0.2 seconds. */
  sent(): Promise<void>;
  /** The run has ended, so there is nothing left to cancel. */
  stop(): void;
}

/** Shorter than the grace of an aborted call, so that the usage of the call is not lost. */
const longestWaitMs = 200;

/**
 * Sends a cancel request when the signal aborts. For most upstreams closing the connection is enough, but a proxy may hide
 * that. The caller does not wait for the answer. `requestOf` returns undefined while there is nothing to cancel.
 */
export function cancelOnAbort(
  backend: Pick<MediaBackend, "net">,
  signal: AbortSignal,
  requestOf: () => Pick<NetRequest, "url" | "headers" | "body"> | undefined,
): Cancelling {
  let sent: Promise<void> = Promise.resolve();
  const cancel = () => {
    const request = requestOf();
    if (!request) return;
    const bounds = { totalMs: 5000, headersMs: 5000, idleMs: 5000, maxBytes: 64 * 1024 };
    sent = backend.net.request({ ...request, method: "POST", bounds }).then(
      (answer) => answer.body.dump().catch(() => {}),
      () => {},
    );
  };
  signal.addEventListener("abort", cancel, { once: true });
  return {
    sent: () => Promise.race([sent, sleep(longestWaitMs, undefined, { ref: false })]),
    stop: () => signal.removeEventListener("abort", cancel),
  };
}
