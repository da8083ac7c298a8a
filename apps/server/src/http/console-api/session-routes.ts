import { type SessionRecord, signInBody } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Accounts, type Caller, sessionMs } from "../../features/accounts/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { isOwnOrigin } from "../foundation/origin.rules.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { sessionCookie, sessionKey } from "../foundation/session-cookie.ts";

export interface SessionRouteDeps {
  accounts: Pick<Accounts, "authenticate" | "useSignInLink" | "endSession">;
  clock: Clock;
  /** GANTRY_PUBLIC_URL, when the operator set one. */
  publicUrl: string | undefined;
}

const address = "/console/api/session";

/**
 * Signing in to the console, with a sign-in link or a key, and out of it. The session is a key in a cookie that no script
 * can read. A key that is brought stays what it is, and outlives the session; one that a link made is good for nothing else.
 */
export async function sessionRoutes(
  app: FastifyInstance,
  { accounts, clock, publicUrl }: SessionRouteDeps,
): Promise<void> {
  const callerOf = requireCaller(accounts.authenticate);
  acceptEmptyBodies(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const { origin, host } = request.headers;
    if (isOwnOrigin(origin, host, publicUrl)) return;
    throw fault(
      "forbidden",
      "Pages of other sites may not sign in here: where the console has a domain, GANTRY_PUBLIC_URL must name it",
    );
  });

  app.post(address, async (request, reply) => {
    const given = parseOrThrow(signInBody, request.body ?? {}, ["body"]);
    const key = "key" in given ? given.key : await accounts.useSignInLink(given.token);
    const caller = await accounts.authenticate(key);
    const left = (endOf(caller)?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now().getTime();
    const maxAgeMs = Math.min(left, sessionMs);
    return reply
      .header("set-cookie", sessionCookie(key, { maxAgeMs, isSecure: cameByTls(request) }))
      .send(toWire(caller));
  });

  app.get(address, async (request) => toWire(await callerOf(request)));

  app.delete(address, async (request, reply) => {
    const key = sessionKey(request.headers);
    if (key !== undefined) await signOut(key);
    const cleared = sessionCookie("", { maxAgeMs: 0, isSecure: cameByTls(request) });
    return reply.code(204).header("set-cookie", cleared).send();
  });

  async function signOut(key: string): Promise<void> {
    try {
      await accounts.endSession(await accounts.authenticate(key));
    } catch (error) {
      // It has ended already: by its time, or in another window.
      if (!(error instanceof Fault && error.type === "unauthorized")) throw error;
    }
  }
}

/** The server itself speaks no TLS: what stands before it is known by the public address, or by the page that asks. */
function cameByTls({ baseUrl, headers }: FastifyRequest): boolean {
  return [baseUrl, headers.origin].some((one) => one?.startsWith("https://"));
}

function endOf({ sessionEndsAt, expiresAt }: Caller): Date | null {
  return sessionEndsAt ?? expiresAt;
}

function toWire(caller: Caller): SessionRecord {
  return { username: caller.username, role: caller.role, expires_at: endOf(caller)?.toISOString() ?? null };
}
