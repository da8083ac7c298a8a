import { type SessionRecord, signInBody } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Accounts, asPresentedSession, type Caller } from "../../features/accounts/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { sessionCookie, sessionKey } from "../foundation/credentials.ts";
import { isOwnOrigin } from "../foundation/origin.rules.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { requireCaller } from "../foundation/require-caller.ts";

export interface SessionRouteDeps {
  accounts: Pick<Accounts, "authenticate" | "useSignInLink" | "openSession" | "endSession">;
  clock: Clock;
  /** GANTRY_PUBLIC_URL, if the operator has set it. */
  publicUrl: string | undefined;
}

const address = "/console/api/session";
/** A key or a token. The caller is still unknown, so longer bodies are not read. */
const maxBodyBytes = 4 * 1024;

/**
 * Signing in to the console with a sign-in link or a key, and signing out. The session is in a cookie that scripts
 * cannot read and that does not work in a header. It has the rights of its key and ends with it, or earlier.
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
      "Pages of other sites cannot sign in here. If the console has its own domain, set GANTRY_PUBLIC_URL to it.",
    );
  });

  app.post(address, { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const given = parseOrThrow(signInBody, request.body ?? {}, ["body"]);
    const session = await ("key" in given ? signIn(given.key) : accounts.useSignInLink(given.token));
    const record = toWire(await accounts.authenticate(asPresentedSession(session)));
    const maxAgeMs = Date.parse(record.expires_at) - clock.now().getTime();
    return reply.header("set-cookie", sessionCookie(session, { maxAgeMs, isSecure: cameByTls(request) })).send(record);
  });

  app.get(address, async (request) => toWire(await callerOf(request)));

  app.delete(address, async (request, reply) => {
    const presented = sessionKey(request.headers);
    if (presented !== undefined) await signOut(presented);
    const cleared = sessionCookie("", { maxAgeMs: 0, isSecure: cameByTls(request) });
    return reply.code(204).header("set-cookie", cleared).send();
  });

  async function signIn(key: string): Promise<string> {
    return accounts.openSession(await accounts.authenticate(key));
  }

  async function signOut(presented: string): Promise<void> {
    try {
      await accounts.endSession(await accounts.authenticate(presented), presented);
    } catch (error) {
      // The session has expired or was ended in another window.
      if (!(error instanceof Fault && error.type === "unauthorized")) throw error;
    }
  }
}

/** The server has no TLS itself: the public address or the page's origin shows whether a proxy has. */
function cameByTls({ baseUrl, headers }: FastifyRequest): boolean {
  return [baseUrl, headers.origin].some((one) => one?.startsWith("https://"));
}

function toWire(caller: Caller): SessionRecord {
  const { username, role, keyName, models, monthlyLimitMicros, sessionEndsAt, expiresAt } = caller;
  if (sessionEndsAt === null) throw fault("unauthorized", "Not signed in: a key alone is not a session");
  const end = expiresAt !== null && expiresAt < sessionEndsAt ? expiresAt : sessionEndsAt;
  return {
    username,
    role,
    expires_at: end.toISOString(),
    key: {
      name: keyName,
      models: models && [...models],
      monthly_limit: monthlyLimitMicros === null ? null : dollarsOfMicros(monthlyLimitMicros),
    },
  };
}
