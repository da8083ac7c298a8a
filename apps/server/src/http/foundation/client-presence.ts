import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { fault } from "../../kernel/errors.ts";

/** The connected client of a request. */
export interface Client {
  /** Aborts when the client goes away before its answer was sent. */
  readonly signal: AbortSignal;
  /** Called once, at the same moment or now if that has passed; cheaper than a listener of the signal. */
  whenLeft(work: () => void): void;
}

export function watchClient(reply: FastifyReply): Client {
  const controller = new AbortController();
  const { signal } = controller;
  let work: (() => void) | undefined;
  const { raw } = reply;
  const leave = () => {
    if (raw.writableFinished) return;
    controller.abort(fault("generation_cancelled", "The client disconnected"));
    work?.();
  };
  // It may have left while its key or its model was looked up.
  if (raw.destroyed) leave();
  else raw.on("close", leave);
  return {
    signal,
    whenLeft(given) {
      if (signal.aborted) given();
      else work = given;
    },
  };
}

/** Aborts when the client goes away before its answer was sent. */
export function clientPresence(reply: FastifyReply): AbortSignal {
  return watchClient(reply).signal;
}

/** Resolves when written data has been sent, or the reader has disconnected. */
export function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
