import { type AuthorizationRecord, type DecidedRecord, decideAuthorizationBody } from "@gantry/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Caller, readKeyRequest } from "../../features/accounts/index.ts";
import { type AuthorizationRequest, type ConnectedApps, hostOf, kindOf } from "../../features/connected-apps/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { callerOf } from "../foundation/require-caller.ts";

export interface AuthorizationRouteDeps {
  connectedApps: ConnectedApps;
  clock: Clock;
}

const address = "/console/api/authorization";
const maxBodyBytes = 64 * 1024;

/** The page on which a person allows an app to connect. The request comes from the app, so each call checks it again. */
export async function authorizationRoutes(
  app: FastifyInstance,
  { connectedApps, clock }: AuthorizationRouteDeps,
): Promise<void> {
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("cache-control", "no-store");
  });

  app.get<{ Querystring: { request?: unknown } }>(address, async (request): Promise<AuthorizationRecord> => {
    const person = await personOf(request);
    const { client, redirectUri } = await valid(request, request.query.request);
    const { names, isCut } = await connectedApps.suggestNames(person);
    return {
      client: { name: client.name, host: hostOf(redirectUri), kind: kindOf(redirectUri) },
      models: names,
      has_more: isCut,
    };
  });

  app.post(address, { bodyLimit: maxBodyBytes }, async (request, reply): Promise<DecidedRecord | FastifyReply> => {
    const person = await personOf(request);
    const body = parseOrThrow(decideAuthorizationBody, request.body ?? {}, ["body"]);
    const { request: asked, allow, ...key } = body;
    const wanted = await valid(request, asked);
    const redirect_to = allow
      ? await connectedApps.approve(person, wanted, readKeyRequest(key, clock.now()), request.baseUrl)
      : connectedApps.deny(wanted, request.baseUrl);
    return reply.send({ redirect_to });
  });

  async function valid({ baseUrl }: FastifyRequest, query: unknown): Promise<AuthorizationRequest> {
    const params = new URLSearchParams(typeof query === "string" ? query : "");
    const asked = await connectedApps.readAuthorization(params, baseUrl);
    if (asked.problem === undefined) return asked.request;
    throw fault("value_error", asked.problem, { loc: ["body", "request"] });
  }
}

/** A key in a script must not approve apps: only a person in the console can judge them. */
async function personOf(request: FastifyRequest): Promise<Caller> {
  const caller = await callerOf(request);
  if (caller.sessionEndsAt !== null) return caller;
  throw fault("forbidden", "Apps are connected in the console. Sign in there, and start again in the app.");
}
