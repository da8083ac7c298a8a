import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { type Actor, actingAs, anonymous } from "../../features/audit/index.ts";

/** Records that the handler writes name the caller and where the request came from. */
export async function actingAsCaller<T>(request: FastifyRequest, handle: () => Promise<T> | T): Promise<T> {
  const caller = await request.identified?.caller;
  const { address, userAgent } = request.client;
  const source = { address, userAgent, requestId: request.id };
  return actingAs({ actor: caller ? actorOf(caller) : anonymous, source }, async () => handle());
}

/** For a team its member acts. */
function actorOf({ userId, username, keyId, keyPublic, sessionEndsAt, team }: Caller): Actor {
  const person = team?.member ?? { userId, username };
  const session = sessionEndsAt !== null;
  return { type: "user", id: person.userId, username: person.username, keyId, keyPublic, session };
}
