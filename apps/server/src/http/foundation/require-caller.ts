import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { presentedKey } from "./presented-key.ts";
import { believedUser, isOfConsole } from "./session-cookie.ts";

/**
 * Tells who sends a request, or throws the fault that becomes a 401. Meant as an `onRequest` hook as well as inside a
 * handler: a request is looked up once, so that a handler which asks again gets the answer that the hook had.
 */
export function requireCaller(
  authenticate: (presented: string) => Promise<Caller>,
): (request: FastifyRequest) => Promise<Caller> {
  return (request) => {
    if (request.identified?.by === authenticate) return request.identified.caller;
    const caller = identify(request);
    request.identified = { by: authenticate, caller };
    return caller;
  };

  async function identifyPage(headers: IncomingHttpHeaders, key: string): Promise<Caller> {
    return unlessAnother(await authenticate(key), believedUser(headers));
  }

  function identify(request: FastifyRequest): Promise<Caller> {
    const { headers } = request;
    const key = presentedKey(headers);
    if (key !== undefined) return isOfConsole(headers) ? identifyPage(headers, key) : authenticate(key);
    return Promise.reject(
      fault("unauthorized", "API key required: send it as X-API-KEY or as Authorization: Bearer", {
        headers: { "www-authenticate": "Bearer" },
      }),
    );
  }
}

/** The session of a browser may be another user's by now: what a page shows as one's own must not go to the other. */
function unlessAnother(caller: Caller, believed: string | undefined): Caller {
  if (believed === undefined || believed === caller.username) return caller;
  throw fault("conflict", `You are signed in as ${caller.username} now`, {
    headers: { "x-gantry-session": caller.username },
  });
}

declare module "fastify" {
  interface FastifyRequest {
    /** Whose it is, once that was asked; null before. */
    identified: { by: (presented: string) => Promise<Caller>; caller: Promise<Caller> } | null;
  }
}
