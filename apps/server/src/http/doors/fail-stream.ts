import type { FastifyReply, FastifyRequest } from "fastify";
import { toFault } from "../foundation/to-fault.ts";
import type { ChatEvents } from "./chat-door.ts";
import type { DoorDeps } from "./deps.ts";
import { doorErrorOf, logServerError } from "./door-error.ts";
import type { HeldStream } from "./held-stream.ts";

/** Before the first event, a failure is an ordinary answer. */
export function failStream(
  { deps, request, reply }: { deps: Pick<DoorDeps, "log">; request: FastifyRequest; reply: FastifyReply },
  stream: HeldStream,
  events: ChatEvents | undefined,
  error: unknown,
): FastifyReply {
  if (!stream.isOpen || !events) {
    stream.end();
    if (!stream.isOpen) throw error;
    return reply;
  }
  const failure = toFault(error);
  logServerError(deps.log, request, failure);
  stream.write(events.failed(doorErrorOf(failure), request.id));
  stream.end();
  return reply;
}
