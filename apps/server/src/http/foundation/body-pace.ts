import type { IncomingMessage } from "node:http";
import { type Fault, fault } from "../../kernel/errors.ts";
import { awaitsContinue } from "./expected-continue.ts";

export interface BodyPace {
  /** A JSON body up to this size must be complete within one window. */
  shortBytes: number;
  windowMs: number;
  /** The average rate that every other body must keep in each window. */
  bytesPerSecond: number;
  checkMs: number;
}

export const defaultPace: BodyPace = {
  shortBytes: 1024 * 1024,
  windowMs: 30_000,
  bytesPerSecond: 10 * 1024,
  checkMs: 1_000,
};

interface Arrival {
  /** Time that the server has waited for the client since the window began. */
  waitedMs: number;
  bytesAtStart: number;
  bytesAtWindow: number;
}

const json = /^\s*application\/([\w.-]+\+)?json\s*(;|$)/i;

/**
 * Finds bodies that arrive too slowly. Only the time that the server waits for the client counts: not while bytes are
 * unread in memory, or while the client waits for 100 Continue.
 */
export class SlowBodies {
  readonly #pace: BodyPace;
  #arrivals = new Map<IncomingMessage, Arrival>();

  constructor(pace: BodyPace) {
    this.#pace = pace;
  }

  /** Call every `checkMs` with all requests that may be incomplete; returns those to refuse. */
  check(requests: readonly IncomingMessage[]): Map<IncomingMessage, Fault> {
    const late = new Map<IncomingMessage, Fault>();
    const arrivals = new Map<IncomingMessage, Arrival>();
    for (const request of requests) {
      if (request.complete || request.destroyed) continue;
      const { bytesRead } = request.socket;
      const arrival = this.#arrivals.get(request) ?? { waitedMs: 0, bytesAtStart: bytesRead, bytesAtWindow: bytesRead };
      arrivals.set(request, arrival);
      if (request.readableLength > 0 || awaitsContinue(request)) continue;
      arrival.waitedMs += this.#pace.checkMs;
      if (arrival.waitedMs < this.#pace.windowMs) continue;
      const reason = this.#reason(request, arrival, bytesRead);
      if (reason) late.set(request, reason);
      arrival.waitedMs = 0;
      arrival.bytesAtWindow = bytesRead;
    }
    this.#arrivals = arrivals;
    return late;
  }

  #reason({ headers }: IncomingMessage, arrival: Arrival, bytesRead: number): Fault | undefined {
    const { shortBytes, windowMs, bytesPerSecond } = this.#pace;
    const length = Number(headers["content-length"] ?? bytesRead - arrival.bytesAtStart);
    if (json.test(headers["content-type"] ?? "") && length <= shortBytes) {
      return fault("request_timeout", `The body was not complete within ${windowMs / 1000} seconds. Send it again.`);
    }
    if (bytesRead - arrival.bytesAtWindow >= (bytesPerSecond * windowMs) / 1000) return undefined;
    const rate = `${bytesPerSecond / 1024} kB per second`;
    return fault("request_timeout", `The body arrived too slowly: at least ${rate} is required. Send it again.`);
  }
}
