import { Readable } from "node:stream";
import type { Outgoing } from "./request-head.ts";

export interface Sending {
  /** Destroys the stream. */
  stop(reason: Error): void;
}

/**
 * Sends a stream as the body of a request, with backpressure. A declared length must match exactly: the server would read
 * missing bytes from the next request.
 */
export function sendBody(
  socket: NodeJS.WritableStream & { cork(): void; uncork(): void },
  body: Readable,
  options: { length: number | undefined; onProgress(): void; onDone(): void; onError(error: Error): void },
): Sending {
  const { length } = options;
  let sent = 0;
  let over = false;

  function onData(piece: Buffer | string): void {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    if (bytes.length === 0) return;
    sent += bytes.length;
    if (length !== undefined && sent > length) {
      fail(new Error("The body is longer than its declared length"));
      return;
    }
    options.onProgress();
    if (!write(bytes)) body.pause();
  }

  function write(bytes: Buffer): boolean {
    if (length !== undefined) return socket.write(bytes);
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    const canContinue = socket.write("\r\n");
    socket.uncork();
    return canContinue;
  }

  function onDrain(): void {
    options.onProgress();
    body.resume();
  }

  function onEnd(): void {
    if (length !== undefined && sent < length) {
      fail(new Error("The body is shorter than its declared length"));
      return;
    }
    finish();
    if (length === undefined) socket.write("0\r\n\r\n");
    options.onDone();
  }

  function onClose(): void {
    if (!over) fail(new Error("The body is incomplete"));
  }

  function fail(error: Error): void {
    finish();
    body.destroy();
    options.onError(error);
  }

  function finish(): void {
    over = true;
    socket.off("drain", onDrain);
    body.off("data", onData).off("end", onEnd).off("close", onClose);
  }

  socket.on("drain", onDrain);
  // This listener stays: an error after the end must not be uncaught.
  body.on("error", (error) => void (over || fail(error)));
  body.on("end", onEnd).on("close", onClose).on("data", onData);
  if (body.destroyed) onClose();

  return {
    stop(reason) {
      if (over) return;
      finish();
      body.destroy(reason);
    },
  };
}

/** An unread stream would keep its file or connection open. */
export function giveUpBody(body: Outgoing["body"]): void {
  if (body instanceof Readable) body.destroy();
}
