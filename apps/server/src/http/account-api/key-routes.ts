import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { readKeyChange, readKeyRequest, signInUrl } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { route } from "../foundation/route.ts";
import { requireKeyId, requireUsername } from "./admin-routes.ts";
import type { AccountApiDeps } from "./deps.ts";
import { keyToWire, newKeyToWire } from "./records.ts";

const { listKeys, createKey, changeKey, revokeKey, rotateKey, makeSignInLink } = accountOperations;

export function keyRoutes(app: FastifyInstance, { accounts, clock }: AccountApiDeps): void {
  route(app, listKeys, async ({ caller, query }) => {
    const { entries, total } = await accounts.listKeys(caller, rangeOf(query));
    return listEnvelope(entries.map(keyToWire), query, total);
  });

  route(app, createKey, { unchecked: "body" }, async ({ caller, body = {} }) =>
    newKeyToWire(await accounts.createKey(caller, readKeyRequest(body, clock.now()))),
  );

  route(app, changeKey, { unchecked: "body" }, async ({ caller, params, body = {} }) =>
    keyToWire(await accounts.changeKey(caller, requireKeyId(params.id), readKeyChange(body, clock.now()))),
  );

  route(app, revokeKey, async ({ caller, params }) => {
    await accounts.revokeKey(caller, requireKeyId(params.id));
  });

  route(app, rotateKey, async ({ caller, params, body }) =>
    newKeyToWire(await accounts.rotateKey(caller, requireKeyId(params.id), body.grace_seconds)),
  );

  route(app, makeSignInLink, async ({ caller, body: { username }, request, reply }) => {
    const isOwn = username === undefined || username === caller.username;
    if (!isOwn && caller.role !== "admin") throw fault("forbidden", "Only an admin may do this");
    const { token, expiresAt } = await (isOwn
      ? accounts.makeSignInLink(caller)
      : accounts.makeSignInLinkFor(requireUsername(username)));
    reply.header("cache-control", "no-store");
    return { url: signInUrl(request.baseUrl, token), expires_at: expiresAt.toISOString() };
  });
}
