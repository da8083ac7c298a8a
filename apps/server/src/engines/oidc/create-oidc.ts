import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { type Net, NetError } from "../net/net.ts";
import { type OidcEngine, OidcError } from "./oidc.ts";
import { createOidcFetch } from "./oidc-fetch.ts";

export interface OidcClient {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
}

/** Providers change their endpoints rarely. Their keys are read again when an unknown one signs. */
const freshMs = 3_600_000;
const timeoutSeconds = 15;

/** Discovers the provider at the first sign-in, so that a provider that is down does not keep the server from starting. */
export function createOidc(net: Pick<Net, "request">, client: OidcClient): OidcEngine {
  let known: { configuration: Promise<Configuration>; since: number } | undefined;

  function configured(): Promise<Configuration> {
    if (known && performance.now() - known.since < freshMs) return known.configuration;
    const configuration = discover(net, client);
    const entry = { configuration, since: performance.now() };
    known = entry;
    configuration.catch(() => {
      if (known === entry) known = undefined;
    });
    return configuration;
  }

  return {
    begin: (redirectUri) =>
      mapped(async () => {
        const configuration = await configured();
        const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri };
        const url = buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: client.scopes,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: "S256",
        });
        return { url: url.href, checks };
      }),

    finish: (query, { state, nonce, verifier, redirectUri }, needed) =>
      mapped(async () => {
        const configuration = await configured();
        const tokens = await authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims || tokens.id_token === undefined) throw new OidcError("invalid", "The provider sent no ID token");
        const misses = needed.some((name) => !(name in claims));
        const more =
          misses && configuration.serverMetadata().userinfo_endpoint !== undefined
            ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
            : {};
        return { issuer: claims.iss, subject: claims.sub, claims: { ...more, ...claims }, idToken: tokens.id_token };
      }),

    signOutUrl: (returnTo, idToken) =>
      mapped(async () => {
        const configuration = await configured();
        if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
        const parameters = new URLSearchParams({ post_logout_redirect_uri: returnTo });
        if (idToken !== undefined) parameters.set("id_token_hint", idToken);
        return buildEndSessionUrl(configuration, parameters).href;
      }),
  };
}

async function discover(net: Pick<Net, "request">, client: OidcClient): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = client;
  // The operator has chosen the address, as with models.
  const insecure = new URL(issuer).protocol === "http:" ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, undefined, clientAuth(clientSecret), {
    execute: [enableNonRepudiationChecks, ...insecure],
    [customFetch]: createOidcFetch(net),
    timeout: timeoutSeconds,
  });
}

/** The method that the provider supports. */
function clientAuth(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const isPostOnly = !methods.includes("client_secret_basic") && methods.includes("client_secret_post");
    return (isPostOnly ? post : basic)(server, ...rest);
  };
}

async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toOidcError(error);
  }
}

/** What the person or the provider has decided. Other errors of the protocol are faults of the answer or of the settings. */
const refusals = ["access_denied", "login_required", "interaction_required", "consent_required"];
const troubles = ["server_error", "temporarily_unavailable"];

function toOidcError(error: unknown): OidcError {
  if (error instanceof OidcError) return error;
  const said = textOf(error);
  if (error instanceof AuthorizationResponseError && refusals.includes(error.error)) {
    return new OidcError("refused", said, { cause: error });
  }
  if (error instanceof AuthorizationResponseError && troubles.includes(error.error)) {
    return new OidcError("unavailable", said, { cause: error });
  }
  return new OidcError(isOfNetwork(error) ? "unavailable" : "invalid", said, { cause: error });
}

/** Descriptions come from the provider or, in the address of the browser, from anyone. */
function textOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return `The provider answers ${error.error}: ${error.error_description ?? "no description"}`.slice(0, 500);
  }
  return error instanceof Error ? error.message.slice(0, 500) : "unknown error";
}

function isOfNetwork(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if (one instanceof NetError || one.name === "TimeoutError") return true;
    // An answer with a status that the protocol does not have, such as 502 of a proxy.
    if (one.cause instanceof Response && one.cause.status >= 500) return true;
  }
  return false;
}
