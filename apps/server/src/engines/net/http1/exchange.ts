import { Ring, type RingEntry } from "../../../kernel/ring.ts";
import { type NetBounds, type NetControl, NetError, type NetHandler, type NetHeaders } from "../net.ts";
import { toNetError } from "../net-failures.ts";
import { type Outgoing, type RequestHead, writeHead } from "./request-head.ts";
import { giveUpBody } from "./send-body.ts";

/** The connection of an exchange. */
export interface Carrier {
  start(exchange: Exchange): void;
  pause(): void;
  resume(): void;
  /** Does not notify the exchange. */
  destroy(): void;
}

/**
 * One request and its answer, within its bounds.
 *
 *   waiting ──start──► sent ──headers──► answering ──end──► over
 *      └─────────────────┴─────────────────┴──abort, time, size, failure──► over
 *
 * The handler is not called after the end or an error.
 */
export class Exchange implements NetControl, Watched {
  readonly outgoing: Outgoing;
  readonly head: RequestHead;
  readonly #handler: NetHandler;
  readonly #bounds: NetBounds;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: (() => void) | undefined;
  readonly #watched: RingEntry;
  readonly #createdAt = performance.now();
  /** Last progress, in either direction. */
  #heardAt = this.#createdAt;
  #silenceMs = Number.POSITIVE_INFINITY;
  #carrier: Carrier | undefined;
  #received = 0;
  #paused = false;
  #over = false;
  /** Set while waiting for a connection. */
  leaveQueue: (() => void) | undefined;

  /** Throws if the request cannot be sent. */
  constructor(
    outgoing: Outgoing,
    host: string,
    options: { handler: NetHandler; bounds: NetBounds; signal: AbortSignal | undefined },
  ) {
    this.outgoing = outgoing;
    this.head = writeHead(outgoing, host);
    this.#handler = options.handler;
    this.#bounds = options.bounds;
    this.#signal = options.signal;
    this.#watched = watch.add(this);
    const { signal } = options;
    if (signal) {
      this.#onAbort = () => this.abort(asError(signal.reason));
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  start(carrier: Carrier): void {
    this.#carrier = carrier;
    this.leaveQueue = undefined;
    this.#silenceMs = this.#bounds.headersMs;
    this.#heardAt = performance.now();
    carrier.start(this);
  }

  /** The server need not answer while a long body is being sent. */
  onSent(): void {
    this.#heardAt = performance.now();
  }

  onHead(status: number, headers: NetHeaders): void {
    this.#silenceMs = this.#bounds.idleMs;
    this.#heardAt = performance.now();
    this.#handler.onResponseStart(this, status, headers);
  }

  onBody(chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > this.#bounds.maxBytes) {
      this.abort(new NetError("too_large", `The answer is longer than ${this.#bounds.maxBytes} bytes`));
      return;
    }
    this.#heardAt = performance.now();
    this.#handler.onResponseData(this, chunk);
  }

  onEnd(): void {
    if (this.#finish()) this.#handler.onResponseEnd();
  }

  onError(error: unknown): void {
    if (!this.#finish()) return;
    giveUpBody(this.outgoing.body);
    this.#handler.onResponseError(toNetError(error));
  }

  checkTime(now: number): void {
    // Silence while reading is paused is not the server's fault.
    const isSilent = !this.#paused && now - this.#heardAt > this.#silenceMs;
    if (isSilent || now - this.#createdAt > this.#bounds.totalMs) {
      this.abort(new NetError("timeout", "The server did not answer in time"));
    }
  }

  pause(): void {
    if (this.#over) return;
    this.#paused = true;
    this.#carrier?.pause();
  }

  resume(): void {
    if (this.#over || !this.#paused) return;
    this.#paused = false;
    this.#heardAt = performance.now();
    this.#carrier?.resume();
  }

  abort(reason: Error): void {
    const carrier = this.#carrier;
    if (!this.#finish()) return;
    carrier?.destroy();
    giveUpBody(this.outgoing.body);
    this.#handler.onResponseError(reason);
  }

  /** False if it was over already. */
  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#carrier = undefined;
    this.leaveQueue?.();
    this.#watched.leave();
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The call was aborted", { cause: reason });
}

interface Watched {
  /** `now` as in `performance.now`. */
  checkTime(now: number): void;
}

const checkMs = 50;

/** Checks all exchanges twenty times a second. Separate timers would be reset with every chunk of an answer. */
class Watch {
  readonly #watched = new Ring<Watched>();
  #timer: NodeJS.Timeout | undefined;

  add(one: Watched): RingEntry {
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref();
    return this.#watched.add(one);
  }

  #check(): void {
    const now = performance.now();
    for (const one of this.#watched.all()) one.checkTime(now);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const watch = new Watch();
