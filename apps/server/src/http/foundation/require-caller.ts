import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { presentedKey } from "./presented-key.ts";

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

  function identify(request: FastifyRequest): Promise<Caller> {
    const key = presentedKey(request.headers);
    if (key !== undefined) return authenticate(key);
    return Promise.reject(
      fault("unauthorized", "API key required: send it as X-API-KEY or as Authorization: Bearer", {
        headers: { "www-authenticate": "Bearer" },
      }),
    );
  }
}

declare module "fastify" {
  interface FastifyRequest {
    /** Whose it is, once that was asked; null before. */
    identified: { by: (presented: string) => Promise<Caller>; caller: Promise<Caller> } | null;
  }
}
