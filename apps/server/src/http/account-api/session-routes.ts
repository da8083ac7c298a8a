import type { SignedInSessionRecord } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { passwordResetUrl, type Session } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { route } from "../foundation/route.ts";
import { requireUsername } from "./admin-routes.ts";
import type { AccountApiDeps } from "./deps.ts";
import { deletionToWire } from "./records.ts";

const operations = accountOperations;

/** Sessions of the console, passwords, and the end of the account. */
export function sessionRoutes(app: FastifyInstance, { accounts }: AccountApiDeps): void {
  route(app, operations.listSessions, async ({ caller, query }) => {
    const { entries, total } = await accounts.listSessions(caller, rangeOf(query));
    return listEnvelope(entries.map(sessionToWire(caller.keyPublic)), query, total);
  });

  route(app, operations.revokeSession, async ({ caller, params }) => {
    await accounts.revokeSession(caller, requireSessionId(params.id));
  });

  route(app, operations.revokeOtherSessions, async ({ caller }) => {
    await accounts.revokeOtherSessions(caller);
  });

  route(app, operations.changePassword, async ({ caller, body, request }) => {
    await accounts.changePassword(caller, body, request.client);
  });

  route(app, operations.deleteAccount, async ({ caller, body }) =>
    deletionToWire(await accounts.deleteOwnAccount(caller, body.username)),
  );

  route(app, operations.listSessionsOf, async ({ caller, params, query }) => {
    const { entries, total } = await accounts.listSessionsOf(requireUsername(params.username), rangeOf(query));
    return listEnvelope(entries.map(sessionToWire(caller.keyPublic)), query, total);
  });

  route(app, operations.revokeSessionOf, async ({ params: { username, id } }) => {
    await accounts.revokeSessionOf(requireUsername(username), requireSessionId(id));
  });

  route(app, operations.revokeSessionsOf, async ({ params }) => {
    await accounts.revokeSessionsOf(requireUsername(params.username));
  });

  route(app, operations.makePasswordReset, async ({ params, request, reply }) => {
    const { token, expiresAt } = await accounts.makePasswordReset(requireUsername(params.username));
    reply.header("cache-control", "no-store");
    return { url: passwordResetUrl(request.baseUrl, token), expires_at: expiresAt.toISOString() };
  });

  route(app, operations.unlinkIdentity, async ({ params }) => {
    await accounts.unlinkIdentities(requireUsername(params.username));
  });
}

/** Keeps text that cannot be an id from the database. */
function requireSessionId(text: string): string {
  if (!/^[0-9a-z]{12}$/.test(text)) throw fault("not_found", "Session not found");
  return text;
}

export const sessionToWire =
  (current: string) =>
  (session: Session): SignedInSessionRecord => ({
    id: session.id,
    current: session.id === current,
    signed_in_with: session.way,
    key_name: session.keyName,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt?.toISOString() ?? null,
    expires_at: session.endsAt.toISOString(),
    address: session.address,
    user_agent: session.userAgent,
  });
