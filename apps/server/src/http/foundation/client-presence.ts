import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { fault } from "../../kernel/errors.ts";

/** The connected client of a request. */
export interface Client {
  /** Aborts when the client goes away before its answer was sent. */
  readonly signal: AbortSignal;
  /** Called at the same moment; cheaper than a listener of the signal. */
  onLeft: (() => void) | undefined;
}

export function watchClient(reply: FastifyReply): Client {
  const controller = new AbortController();
  const client: Client = { signal: controller.signal, onLeft: undefined };
  const { raw } = reply;
  raw.on("close", () => {
    if (raw.writableFinished) return;
    controller.abort(fault("generation_cancelled", "The client disconnected"));
    client.onLeft?.();
  });
  return client;
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
