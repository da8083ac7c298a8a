import type { FastifyReply } from "fastify";

/** Aborts when the client goes away before its answer was sent. */
export function clientPresence(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort(new Error("The client went away"));
  });
  return controller.signal;
}
