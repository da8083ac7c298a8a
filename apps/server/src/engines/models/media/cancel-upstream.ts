import { setTimeout as sleep } from "node:timers/promises";
import type { NetRequest } from "../../net/net.ts";
import type { MediaBackend } from "./call.ts";

export interface Cancelling {
  /** Once the upstream has heard it, or has had half a second to; at once where there was nothing to tell. */
  told(): Promise<void>;
  /** The run is over: there is nothing left to cancel. */
  stop(): void;
}

const longestTellingMs = 500;

/**
 * Tells an upstream that nobody waits any more, as soon as the signal says so. Closing the connection says the same to
 * most; a proxy in between may swallow that. Whether it arrives changes nothing for the caller, so nobody waits for it.
 * `requestOf` gives nothing while there is nothing to cancel.
 */
export function cancelOnAbort(
  backend: Pick<MediaBackend, "net">,
  signal: AbortSignal,
  requestOf: () => Pick<NetRequest, "url" | "headers" | "body"> | undefined,
): Cancelling {
  let told: Promise<void> = Promise.resolve();
  const cancel = () => {
    const request = requestOf();
    if (!request) return;
    const bounds = { totalMs: 5000, headersMs: 5000, idleMs: 5000, maxBytes: 64 * 1024 };
    told = backend.net.request({ ...request, method: "POST", bounds }).then(
      (answer) => answer.body.dump().catch(() => {}),
      () => {},
    );
  };
  signal.addEventListener("abort", cancel, { once: true });
  return {
    told: () => Promise.race([told, sleep(longestTellingMs, undefined, { ref: false })]),
    stop: () => signal.removeEventListener("abort", cancel),
  };
}
