import type { FastifyReply, FastifyRequest } from "fastify";
import { toFault } from "../foundation/to-fault.ts";
import type { ChatEvents } from "./chat-door.ts";
import type { DoorDeps } from "./deps.ts";
import { doorErrorOf, logServerError } from "./door-error.ts";
import type { HeldStream } from "./held-stream.ts";

/** Before the stream is open, a failure is an ordinary answer. `begin` is for a stream that opened without an event. */
export function failStream(
  { deps, request, reply }: { deps: Pick<DoorDeps, "log">; request: FastifyRequest; reply: FastifyReply },
  stream: HeldStream,
  begin: () => ChatEvents,
  error: unknown,
): FastifyReply {
  if (!stream.isOpen) {
    stream.end();
    throw error;
  }
  const failure = toFault(error);
  logServerError(deps.log, request, failure);
  stream.write(begin().failed(doorErrorOf(failure), request.id));
  stream.end();
  return reply;
}
