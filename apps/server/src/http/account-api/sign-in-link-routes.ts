import { makeSignInLinkBody, type SignInLinkRecord } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { signInUrl } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { existing } from "./admin-routes.ts";
import type { RouteDeps } from "./deps.ts";

export function signInLinkRoutes(app: FastifyInstance, { accounts, callerOf }: RouteDeps): void {
  app.post("/api/v2/sign-in-links", async (request, reply) => {
    const { body = {} } = request;
    const { username } = parseOrThrow(makeSignInLinkBody, body, ["body"]);
    const caller = await callerOf(request);
    const isOwn = username === undefined || username === caller.username;
    if (!isOwn && caller.role !== "admin") throw fault("forbidden", "Only an admin may do this");
    const { token, expiresAt } = await (isOwn
      ? accounts.makeSignInLink(caller)
      : accounts.makeSignInLinkFor(existing(username)));
    const record: SignInLinkRecord = { url: signInUrl(request.baseUrl, token), expires_at: expiresAt.toISOString() };
    return reply.code(201).header("cache-control", "no-store").send(record);
  });
}
