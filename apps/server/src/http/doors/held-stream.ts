import type { FastifyReply } from "fastify";
import { type EventStream, openEventStream } from "../foundation/event-stream.ts";

/** An upstream that takes longer has probably accepted the request. */
const holdMs = 10_000;

export interface HeldStream {
  /** False while an error can still be an ordinary answer. */
  readonly isOpen: boolean;
  write(events: string): void | Promise<void>;
  end(): void;
}

/**
 * An event stream that begins with its first event, 10 seconds after its creation at the latest. Until then the answer can
 * still have another status.
 *
 *   held ──first event | 10 s──► open ──► ended
 *    └── end() without an event: the caller answers otherwise
 */
export function holdStream(reply: FastifyReply): HeldStream {
  let stream: EventStream | undefined;
  let isEnded = false;
  const open = (): EventStream => {
    clearTimeout(timer);
    if (stream) return stream;
    reply.hijack();
    stream = openEventStream(reply.raw, reply.getHeaders() as Record<string, string>);
    return stream;
  };
  const timer = setTimeout(() => {
    if (isEnded || reply.sent || reply.raw.destroyed) return;
    // A comment, so that the headers leave now.
    open().write(": waiting\n\n");
  }, holdMs);
  reply.raw.once("close", () => clearTimeout(timer));
  return {
    get isOpen() {
      return stream !== undefined;
    },
    write: (events) => (isEnded || events === "" ? undefined : (stream ?? open()).write(events)),
    end() {
      isEnded = true;
      clearTimeout(timer);
      stream?.end();
    },
  };
}
