import { type Dispatcher, errors } from "undici";
import { createDeadlinesByLength, type Deadlines, type Timed } from "../../kernel/deadlines.ts";
import { type NetBounds, NetError, type NetHeaders } from "./net.ts";

const timeouts = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"]);
const noConnection = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
]);
/** An expired, foreign or unvouched certificate, or a server that speaks no TLS at all. */
const untrusted = /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** Whatever undici, the resolver or TLS threw, in our few words. The original stays inside as the cause. */
export function toNetError(error: unknown): Error {
  if (error instanceof NetError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  if (timeouts.has(code)) return new NetError("timeout", "The server did not answer in time", cause);
  if (noConnection.has(code)) return new NetError("unreachable", "The server could not be reached", cause);
  if (error instanceof errors.InvalidArgumentError) {
    return new NetError("invalid_url", "The request cannot be sent to this address", cause);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") return new NetError("too_large", "The server's headers are too long", cause);
  if (untrusted.test(code)) return new NetError("unreachable", "No secure connection to the server is possible", cause);
  return new NetError("cut", "The server broke off its answer", cause);
}

export interface BoundedOptions {
  bounds: NetBounds;
  stopSignal: AbortSignal | undefined;
}

const totalTimes = createDeadlinesByLength();

/** Stands in for undici's own when the exchange ended before it began. */
const ended: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

/**
 * Holds one exchange to its bounds, whoever reads it. undici knows idle times only, counts bytes per connection pool,
 * and lets a call that waits for a connection wait on after an abort: total time, size and abort are handled here.
 *
 *   waiting ──onRequestStart──► running ──end | error──► over
 *      └──────── stop (abort, time): the reader is told at once; undici's own end is swallowed ──► over
 */
export class BoundedExchange implements Dispatcher.DispatchHandler, Timed {
  since = 0;
  readonly #inner: Dispatcher.DispatchHandler;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #totalTime: Deadlines;
  readonly #onAbort: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #received = 0;
  #stopped: Error | undefined;
  #over = false;

  constructor(inner: Dispatcher.DispatchHandler, bounds: NetBounds, signal: AbortSignal | undefined) {
    this.#inner = inner;
    this.#maxBytes = bounds.maxBytes;
    this.#signal = signal;
    this.#totalTime = totalTimes(bounds.totalMs);
    this.#totalTime.add(this);
    if (signal) {
      this.#onAbort = () => this.#stop(asError(signal.reason));
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    if (this.#stopped) {
      controller.abort(this.#stopped);
      return;
    }
    this.#controller = controller;
    this.#inner.onRequestStart?.(controller, context);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: NetHeaders,
    statusText?: string,
  ): void {
    // Early hints and the like come before the answer and are none.
    if (this.#over || status < 200) return;
    this.#inner.onResponseStart?.(controller, status, headers, statusText);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#received += chunk.length;
    if (this.#received > this.#maxBytes) {
      this.#stop(new NetError("too_large", `The answer is longer than ${this.#maxBytes} bytes`));
      return;
    }
    this.#inner.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: NetHeaders): void {
    if (this.#over) return;
    this.#finish();
    this.#inner.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    this.#finish();
    // A reader that destroys its stream aborts with an error of its own; that is no failure of the server.
    this.#inner.onResponseError?.(controller, this.#stopped ?? toNetError(error));
  }

  expire(): void {
    this.#stop(new NetError("timeout", "The server did not answer in time"));
  }

  #stop(reason: Error): void {
    if (this.#over || this.#stopped) return;
    this.#stopped = reason;
    if (this.#controller) {
      this.#controller.abort(reason);
      return;
    }
    this.#finish();
    this.#inner.onResponseError?.(ended, reason);
  }

  #finish(): void {
    this.#over = true;
    this.#totalTime.remove(this);
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The call was aborted", { cause: reason });
}
