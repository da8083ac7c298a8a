import type { NetRequest } from "../net/net.ts";
import type { MediaBackend } from "./media-call.ts";

/**
 * Tells an upstream that nobody waits any more, as soon as the signal says so. Closing the connection says the same to
 * most; a proxy in between may swallow that. Whether it arrives changes nothing for the caller, so nobody waits for it.
 * `requestOf` gives nothing while there is nothing to cancel. Returns the way to stop watching.
 */
export function cancelOnAbort(
  backend: Pick<MediaBackend, "net">,
  signal: AbortSignal,
  requestOf: () => Pick<NetRequest, "url" | "headers" | "body"> | undefined,
): () => void {
  const cancel = () => {
    const request = requestOf();
    if (!request) return;
    const bounds = { totalMs: 5000, headersMs: 5000, idleMs: 5000, maxBytes: 64 * 1024 };
    backend.net.request({ ...request, method: "POST", bounds }).then(
      (answer) => answer.body.dump().catch(() => {}),
      () => {},
    );
  };
  signal.addEventListener("abort", cancel, { once: true });
  return () => signal.removeEventListener("abort", cancel);
}
