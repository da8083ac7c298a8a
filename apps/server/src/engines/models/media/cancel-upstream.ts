import { setTimeout as sleep } from "node:timers/promises";
import type { NetRequest } from "../../net/net.ts";
import type { MediaBackend } from "./call.ts";

export interface Cancelling {
  /** The status of the upstream's answer to the cancel request. Undefined if it does not answer within 0.2 seconds. */
  answered(): Promise<number | undefined>;
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
  let answered: Promise<number | undefined> = Promise.resolve(undefined);
  const cancel = () => {
    const request = requestOf();
    if (!request) return;
    const bounds = { totalMs: 5000, headersMs: 5000, idleMs: 5000, maxBytes: 64 * 1024 };
    answered = backend.net.request({ ...request, method: "POST", bounds }).then(
      async (answer) => {
        await answer.body.dump().catch(() => {});
        return answer.status;
      },
      () => undefined,
    );
  };
  signal.addEventListener("abort", cancel, { once: true });
  return {
    answered: () => Promise.race([answered, sleep(longestWaitMs, undefined, { ref: false })]),
    stop: () => signal.removeEventListener("abort", cancel),
  };
}
