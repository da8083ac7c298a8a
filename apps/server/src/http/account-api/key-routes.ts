import { isId } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { readKeyRequest, signInUrl } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { route } from "../foundation/route.ts";
import { requireUsername } from "./admin-routes.ts";
import type { AccountApiDeps } from "./deps.ts";
import { keyToWire, newKeyToWire } from "./records.ts";

const { listKeys, createKey, revokeKey, rotateKey, makeSignInLink } = accountOperations;

export function keyRoutes(app: FastifyInstance, { accounts, clock }: AccountApiDeps): void {
  route(app, listKeys, async ({ caller, query }) => {
    const { entries, total } = await accounts.listKeys(caller, rangeOf(query));
    return listEnvelope(entries.map(keyToWire), query, total);
  });

  route(app, createKey, { unchecked: "body" }, async ({ caller, body = {} }) =>
    newKeyToWire(await accounts.createKey(caller, readKeyRequest(body, clock.now()))),
  );

  route(app, revokeKey, async ({ caller, params }) => {
    await accounts.revokeKey(caller, keyId(params.id));
  });

  route(app, rotateKey, async ({ caller, params, body }) =>
    newKeyToWire(await accounts.rotateKey(caller, keyId(params.id), body.grace_seconds)),
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

/** Keeps text that cannot be an id from the database. */
function keyId(text: string): string {
  if (!isId("key", text)) throw fault("not_found", "Key not found");
  return text;
}
