import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Authenticate, Caller } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { refuseKey } from "./access-table.ts";
import { believedUser, isOfConsole, presentedKey, wantedTeam } from "./credentials.ts";

/**
 * Finds the caller of a request, a team if the request names one, and applies the route's row of the access table: 401
 * without a valid key, 403 if this kind of key is refused. The result stays with the request.
 */
export function requireCaller(authenticate: Authenticate): (request: FastifyRequest) => Promise<Caller> {
  return (request) => {
    if (request.identified?.by === authenticate) return request.identified.caller;
    const caller = admit(request);
    request.identified = { by: authenticate, caller };
    return caller;
  };

  async function admit(request: FastifyRequest): Promise<Caller> {
    const caller = await identify(request);
    const { access } = request.routeOptions.config;
    // Unknown paths have no row.
    if (access) refuseKey(access, caller);
    return caller;
  }

  async function identifyPage(headers: IncomingHttpHeaders, key: string): Promise<Caller> {
    const person = unlessAnother(await authenticate(key), believedUser(headers));
    const team = wantedTeam(headers);
    return team === undefined ? person : authenticate(key, team);
  }

  function identify(request: FastifyRequest): Promise<Caller> {
    const { headers } = request;
    const { access } = request.routeOptions.config;
    const key = presentedKey(headers);
    if (key !== undefined)
      return isOfConsole(headers)
        ? identifyPage(headers, key)
        : authenticate(key, wantedTeam(headers), access?.resource);
    return Promise.reject(
      fault("unauthorized", "API key required. Send it as X-API-KEY or Authorization: Bearer.", {
        headers: { "www-authenticate": "Bearer" },
      }),
    );
  }
}

/** The caller that `requireCaller` has identified before the handler runs. */
export function callerOf({ identified }: FastifyRequest): Promise<Caller> {
  if (!identified) throw new Error("The route is open to anyone, so its caller is unknown");
  return identified.caller;
}

/** Another user may have signed in since the page was loaded: its data must not go to the new user. */
function unlessAnother(caller: Caller, believed: string | undefined): Caller {
  if (believed === undefined || believed === caller.username) return caller;
  throw fault("conflict", `You are signed in as ${caller.username} now`, {
    headers: { "x-gantry-session": caller.username },
  });
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null until the caller has been looked up. */
    identified: { by: Authenticate; caller: Promise<Caller> } | null;
  }
}
