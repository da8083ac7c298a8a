import type { SignInProblem } from "@gantry/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Accounts, asPresentedSession } from "../../features/accounts/index.ts";
import type { Audit } from "../../features/audit/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { cameByTls, cookieOf, hiddenCookie, hostCookie, sessionCookies } from "../foundation/credentials.ts";

interface OidcRouteDeps {
  accounts: Pick<Accounts, "authenticate" | "beginOidcSignIn" | "finishOidcSignIn" | "oidcSignOutUrl">;
  audit: Pick<Audit, "signInRefused">;
  clock: Clock;
}

/** Exists from the start of a sign-in until the provider sends the browser back. */
const flowCookie = "gantry_oidc";
const flowPath = "/console/api/oidc";
/** The ID token, which the provider asks for when the person signs out. */
const hintCookie = "gantry_oidc_hint";
const hintPath = "/console/api/session";
/** Browsers refuse longer cookies. */
const longestHint = 3500;
/** In place of a longer ID token: the provider asks the person before it signs out. */
const withoutHint = "none";

/** Signing in at an OpenID provider. The browser itself opens these addresses, so failures lead to the sign-in page. */
export function oidcRoutes(app: FastifyInstance, { accounts, audit, clock }: OidcRouteDeps) {
  // HEAD would begin a sign-in, or use one up.
  app.get(`${flowPath}/start`, { exposeHeadRoute: false }, async (request, reply) => {
    const { from } = request.query as Record<string, unknown>;
    const begun = await accounts.beginOidcSignIn({ base: request.baseUrl, from: consolePath(from) });
    if (begun.problem !== undefined) return toSignIn(reply, begun.problem, begun.from);
    setFlow(request, reply, begun.flow, begun.lifeMs);
    return reply.redirect(begun.url, 303);
  });

  app.get(`${flowPath}/callback`, { exposeHeadRoute: false }, async (request, reply) => {
    const { url, headers, client } = request;
    const query = new URLSearchParams(url.replace(/^[^?]*\??/, ""));
    const ended = await accounts.finishOidcSignIn(
      { sealed: cookieOf(headers, hostCookie(flowCookie, cameByTls(request))), query },
      client,
    );
    setFlow(request, reply, "", 0);
    if (ended.problem !== undefined) {
      await audit.signInRefused("oidc");
      return toSignIn(reply, ended.problem, ended.from);
    }
    const { sessionEndsAt } = await accounts.authenticate(asPresentedSession(ended.session));
    const maxAgeMs = (sessionEndsAt?.getTime() ?? 0) - clock.now().getTime();
    const isSecure = cameByTls(request);
    reply.header("set-cookie", sessionCookies(headers, ended.session, { maxAgeMs, isSecure }));
    const hint = ended.idToken.length <= longestHint ? ended.idToken : withoutHint;
    reply.header("set-cookie", hiddenCookie(hintCookie, hint, { maxAgeMs, isSecure, path: hintPath }));
    return reply.redirect(`/console${consolePath(ended.from)}`, 303);
  });

  const forget = (request: FastifyRequest, reply: FastifyReply): string | undefined => {
    const hint = cookieOf(request.headers, hintCookie);
    if (hint !== undefined) {
      reply.header("set-cookie", hiddenCookie(hintCookie, "", { maxAgeMs: 0, isSecure: false, path: hintPath }));
    }
    return hint;
  };

  return {
    /** After signing in another way, signing out must not end the session at the provider. */
    forget,
    /** Where the browser signs out at the provider; undefined if the session was not opened there. */
    async signOutUrl(request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
      const hint = forget(request, reply);
      if (hint === undefined) return undefined;
      const idToken = hint === withoutHint ? undefined : hint;
      return accounts.oidcSignOutUrl({ base: request.baseUrl, idToken });
    },
  };
}

function setFlow(request: FastifyRequest, reply: FastifyReply, flow: string, maxAgeMs: number): void {
  const isSecure = cameByTls(request);
  const options = { maxAgeMs, isSecure, sameSite: "Lax" } as const;
  reply.header("set-cookie", hiddenCookie(hostCookie(flowCookie, isSecure), flow, options));
}

function toSignIn(reply: FastifyReply, problem: SignInProblem, from: string): FastifyReply {
  const query = new URLSearchParams({ problem, ...(from !== "/" && { from }) });
  return reply.redirect(`/console/sign-in?${query}`, 303);
}

/** A path inside of the console; everything else is its first page. The browser must not be led to another site. */
function consolePath(from: unknown): string {
  if (typeof from !== "string" || !/^\/(?![/\\])/.test(from)) return "/";
  const url = URL.parse(`/console${from}`, "http://console.invalid");
  if (url?.host !== "console.invalid" || !url.pathname.startsWith("/console/")) return "/";
  return url.href.slice(`${url.origin}/console`.length);
}
