import {
  resetPasswordBody,
  type SessionRecord,
  type SignInBody,
  type SignInWay,
  type SignInWaysRecord,
  signInBody,
} from "@gantry/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Accounts, asPresentedSession, type Caller, type SignedIn } from "../../features/accounts/index.ts";
import type { Audit } from "../../features/audit/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { cameByTls, cookieOf, hiddenCookie, sessionCookies, sessionKey } from "../foundation/credentials.ts";
import { isOwnOrigin } from "../foundation/origin.rules.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { oidcRoutes } from "./oidc-routes.ts";

export interface SessionRouteDeps {
  accounts: Pick<
    Accounts,
    | "authenticate"
    | "beginOidcSignIn"
    | "endSession"
    | "finishOidcSignIn"
    | "oidcSignOutUrl"
    | "openSession"
    | "readSignInWays"
    | "signInWithPassword"
    | "usePasswordReset"
    | "useSignInLink"
  >;
  audit: Pick<Audit, "signInRefused">;
  clock: Clock;
  /** GANTRY_PUBLIC_URL, if the operator has set it. */
  publicUrl: string | undefined;
  /** GANTRY_TRACE_URL, if the operator has set it. */
  traceUrl: string | undefined;
}

const address = "/console/api/session";
const resetAddress = "/console/api/password-reset";
/** A key, a token or a password. The caller is still unknown, so longer bodies are not read. */
const maxBodyBytes = 4 * 1024;
const deviceCookie = "gantry_device";
const deviceMs = 180 * 86_400_000;

/**
 * Signing in to the console with a sign-in link, a key, a password or at an OpenID provider, and signing out. The session is in a cookie that scripts
 * cannot read and that does not work in a header. It has the rights of its key and ends with it, or earlier.
 */
export async function sessionRoutes(
  app: FastifyInstance,
  { accounts, audit, clock, publicUrl, traceUrl }: SessionRouteDeps,
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
    return enter(
      request,
      reply,
      await audited(wayOf(given), signIn(given, request), "password" in given ? given.username : undefined),
    );
  });

  app.post(resetAddress, { bodyLimit: maxBodyBytes }, async (request, reply) => {
    const given = parseOrThrow(resetPasswordBody, request.body ?? {}, ["body"]);
    return enter(request, reply, await audited("password", accounts.usePasswordReset(given, request.client)));
  });

  app.get("/console/api/sign-in", async (): Promise<SignInWaysRecord> => {
    const { ways, provider, minPasswordLength } = await accounts.readSignInWays();
    return { ways, provider, min_password_length: minPasswordLength };
  });

  app.get(address, async (request) => toWire(await callerOf(request), traceUrl));

  app.delete(address, async (request, reply) => {
    const presented = sessionKey(request.headers);
    if (presented !== undefined) await signOut(presented);
    reply.header("set-cookie", sessionCookies(request.headers, "", { maxAgeMs: 0, isSecure: cameByTls(request) }));
    // Only a page of ours sends the console header, so another site cannot sign the person out.
    const signOutUrl = presented === undefined ? undefined : await oidc.signOutUrl(request, reply);
    return signOutUrl === undefined ? reply.code(204).send() : reply.send({ sign_out_url: signOutUrl });
  });

  const oidc = oidcRoutes(app, { accounts, audit, clock });

  async function audited<T>(way: SignInWay, work: Promise<T>, username?: string): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isUnauthorized(error) || isLimited(error)) await audit.signInRefused(way, username);
      throw error;
    }
  }

  async function enter(request: FastifyRequest, reply: FastifyReply, { session, device }: SignedIn) {
    const record = toWire(await accounts.authenticate(asPresentedSession(session)), traceUrl);
    const maxAgeMs = Date.parse(record.expires_at) - clock.now().getTime();
    const isSecure = cameByTls(request);
    reply.header("set-cookie", sessionCookies(request.headers, session, { maxAgeMs, isSecure }));
    oidc.forget(request, reply);
    if (device !== undefined) {
      const options = { maxAgeMs: deviceMs, isSecure, path: "/console/api" };
      reply.header("set-cookie", hiddenCookie(deviceCookie, device, options));
    }
    return reply.send(record);
  }

  async function signIn(given: SignInBody, { client, headers }: FastifyRequest): Promise<SignedIn> {
    if ("password" in given) return accounts.signInWithPassword(given, client, cookieOf(headers, deviceCookie));
    const session =
      "key" in given
        ? await accounts.openSession(await accounts.authenticate(given.key), client)
        : await accounts.useSignInLink(given.token, client);
    return { session, device: undefined };
  }

  async function signOut(presented: string): Promise<void> {
    try {
      await accounts.endSession(await accounts.authenticate(presented), presented);
    } catch (error) {
      // The session has expired or was ended in another window.
      if (!isUnauthorized(error)) throw error;
    }
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof Fault && error.type === "unauthorized";
}

function isLimited(error: unknown): boolean {
  return error instanceof Fault && error.type === "rate_limit";
}

function wayOf(given: SignInBody): SignInWay {
  if ("password" in given) return "password";
  return "key" in given ? "key" : "link";
}

function toWire(caller: Caller, traceUrl: string | undefined): SessionRecord {
  const { username, role, keyName, models, sessionEndsAt, expiresAt } = caller;
  const { monthlyLimitMicros, dailyLimitMicros, tokensPerMinute } = caller;
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
      daily_limit: dailyLimitMicros == null ? null : dollarsOfMicros(dailyLimitMicros),
      tokens_per_minute: tokensPerMinute ?? null,
    },
    trace_url: traceUrl ?? null,
  };
}
