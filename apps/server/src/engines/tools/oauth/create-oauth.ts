import { createHash } from "node:crypto";
import type { Net } from "../../net/net.ts";
import { discover } from "./discover.ts";
import { type OAuthClient, type OAuthEngine, OAuthError, type OAuthServer, type OAuthTokens } from "./oauth.ts";
import { type OAuthAnswer, refusal, send } from "./oauth-http.ts";

/** OAuth over the net port. The protocol is small, and the MCP library's own client refuses http in private networks. */
export function createOAuth(net: Net): OAuthEngine {
  async function tokens(
    server: OAuthServer,
    client: OAuthClient,
    grant: Record<string, string>,
    secrets: readonly string[],
  ): Promise<OAuthTokens> {
    const fields = { ...grant, ...(server.resource !== undefined && { resource: server.resource }) };
    const answer = await post(net, server.tokenEndpoint, server, client, fields);
    if (answer.status >= 200 && answer.status < 300 && !isRefusal(answer)) return readTokens(answer.json);
    const text = refusal(answer, "The authorization server refuses", [...secrets, client.secret]);
    const isClientUnknown = answer.json?.error === "invalid_client";
    throw new OAuthError(isFinal(answer) ? "refused" : "unavailable", text, { isClientUnknown });
  }

  return {
    discover: (target) => discover(net, target),

    async register(server, { redirectUri, scope }) {
      if (server.registrationEndpoint === undefined) {
        throw new OAuthError(
          "protocol",
          "The authorization server does not register clients by itself. Register one there and enter its client_id",
        );
      }
      const answer = await send(net, {
        url: server.registrationEndpoint,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(registration(server, redirectUri, scope)),
      });
      return readClient(answer);
    },

    authorizationUrl(server, client, { redirectUri, state, verifier, scope }) {
      const url = new URL(server.authorizationEndpoint);
      const fields = {
        response_type: "code",
        client_id: client.id,
        redirect_uri: redirectUri,
        state,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        ...(scope !== undefined && { scope }),
        // Without a new consent, OpenID servers give no refresh token.
        ...(scope?.split(" ").includes("offline_access") && { prompt: "consent" }),
        ...(server.resource !== undefined && { resource: server.resource }),
      };
      for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
      return url.href;
    },

    exchange: (server, client, { code, verifier, redirectUri }) =>
      tokens(
        server,
        client,
        { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri },
        [code, verifier],
      ),

    refresh: (server, client, refreshToken) =>
      tokens(server, client, { grant_type: "refresh_token", refresh_token: refreshToken }, [refreshToken]),

    async revoke(server, client, { accessToken, refreshToken }) {
      if (server.revocationEndpoint === undefined) return;
      const fields =
        refreshToken === undefined
          ? { token: accessToken, token_type_hint: "access_token" }
          : { token: refreshToken, token_type_hint: "refresh_token" };
      await post(net, server.revocationEndpoint, server, client, fields);
    },
  };
}

/** A form with the client's credentials. */
async function post(
  net: Net,
  url: string,
  { authMethods }: OAuthServer,
  client: OAuthClient,
  fields: Record<string, string>,
): Promise<OAuthAnswer> {
  const form = new URLSearchParams(fields);
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (authMethodOf(client, authMethods) === "client_secret_basic") {
    const pair = [client.id, client.secret ?? ""].map(encoded).join(":");
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    form.set("client_id", client.id);
    if (client.secret !== undefined) form.set("client_secret", client.secret);
  }
  return send(net, { url, method: "POST", headers, body: form.toString() });
}

/** As in a form: RFC 6749 section 2.3.1. */
function encoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

function authMethodOf({ secret, authMethod }: OAuthClient, supported: readonly string[]): string {
  if (secret === undefined) return "none";
  if (authMethod === "client_secret_basic" || authMethod === "client_secret_post") return authMethod;
  const isPostOnly = !supported.includes("client_secret_basic") && supported.includes("client_secret_post");
  return isPostOnly ? "client_secret_post" : "client_secret_basic";
}

function registration({ authMethods }: OAuthServer, redirectUri: string, scope: string | undefined) {
  const { protocol, hostname } = new URL(redirectUri);
  const isNative = protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  const preferred = ["client_secret_basic", "client_secret_post", "none"].find((one) => authMethods.includes(one));
  return {
    client_name: "Gantry",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: preferred ?? "client_secret_basic",
    application_type: isNative ? "native" : "web",
    ...(scope !== undefined && { scope }),
  };
}

const identifier = /^[\x20-\x7e]{1,2048}$/;

function readClient(answer: OAuthAnswer): OAuthClient {
  const { status, json } = answer;
  if (status < 200 || status >= 300) {
    const reason = status >= 500 || status === 429 ? "unavailable" : "protocol";
    throw new OAuthError(reason, refusal(answer, "The authorization server does not register Gantry", []));
  }
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = json ?? {};
  const { client_secret_expires_at: ends } = json ?? {};
  const isRight = typeof id === "string" && identifier.test(id);
  if (!isRight || (secret !== undefined && !(typeof secret === "string" && identifier.test(secret)))) {
    throw new OAuthError("protocol", "The authorization server answers the registration without a valid client_id");
  }
  return {
    id,
    // A public client that gets a secret anyway must not use it.
    ...(typeof secret === "string" && method !== "none" && { secret }),
    ...(typeof method === "string" && { authMethod: method }),
    ...(typeof ends === "number" && ends > 0 && { secretExpiresAt: ends }),
  };
}

/** Also bounds what is stored and sent as a header. */
const token = /^[\x21-\x7e]{1,16384}$/;
const longestSeconds = 10 * 365 * 86_400;

function readTokens(json: Record<string, unknown> | undefined): OAuthTokens {
  const { access_token: access, token_type: type, refresh_token: refresh, expires_in: seconds } = json ?? {};
  if (typeof access !== "string" || !token.test(access)) {
    throw new OAuthError("protocol", "The authorization server answers without a valid access token");
  }
  if (String(type).toLowerCase() !== "bearer") {
    throw new OAuthError("protocol", "The authorization server answers with a token that is not a bearer token");
  }
  const lasts = Number(seconds);
  return {
    accessToken: access,
    ...(typeof refresh === "string" && token.test(refresh) && { refreshToken: refresh }),
    ...(lasts > 0 && { expiresInSeconds: Math.min(lasts, longestSeconds) }),
  };
}

/** Some servers, such as GitHub, refuse with status 200. */
function isRefusal({ json }: OAuthAnswer): boolean {
  return typeof json?.error === "string";
}

/** The grant will not work later either, as opposed to a server that is down or busy. */
function isFinal(answer: OAuthAnswer): boolean {
  const { status } = answer;
  return status !== 429 && status < 500 && status !== 408 && isRefusal(answer);
}
