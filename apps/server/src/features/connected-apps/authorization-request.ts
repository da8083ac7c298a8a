import { isId } from "@gantry/wire";
import type { ConnectedAppsContext } from "./context.ts";
import { isSameRedirect, withAnswer } from "./redirect-uri.rules.ts";
import { type Client, findClient } from "./store.ts";

/** A valid request of a registered app. */
export interface AuthorizationRequest {
  client: Client;
  redirectUri: string;
  state: string | undefined;
  codeChallenge: string;
}

/** What an app asked by sending a browser to the authorization endpoint. */
export type AskedAuthorization =
  | { kind: "valid"; request: AuthorizationRequest }
  /** The app receives the reason. */
  | { kind: "refused"; redirectTo: string }
  /** The address to return to cannot be trusted, so only the person sees the reason. */
  | { kind: "untrusted"; problem: string };

const longestState = 2048;
const challengeForm = /^[\w-]{43}$/;

/** `base`: the address of this server, which is the issuer. */
export async function readAuthorization(
  { database }: ConnectedAppsContext,
  query: URLSearchParams,
  base: string,
): Promise<AskedAuthorization> {
  const clientId = only(query, "client_id");
  const client = clientId && isId("oauthClient", clientId) ? await findClient(database.sql, clientId) : undefined;
  if (!client) {
    const problem =
      "This app is not registered here, or its registration has expired. Remove Gantry in the app, then add it again.";
    return { kind: "untrusted", problem };
  }
  const redirectUri = only(query, "redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.some((own) => isSameRedirect(own, redirectUri))) {
    const problem = "The app wants its answer at an address that it did not register (redirect_uri).";
    return { kind: "untrusted", problem };
  }
  const state = only(query, "state");
  const refused = problemOf(query, base);
  if (refused) {
    const [error, error_description] = refused;
    return { kind: "refused", redirectTo: withAnswer(redirectUri, { error, error_description, state, iss: base }) };
  }
  const codeChallenge = only(query, "code_challenge") ?? "";
  return { kind: "valid", request: { client, redirectUri, state, codeChallenge } };
}

function problemOf(query: URLSearchParams, base: string): [error: string, description: string] | undefined {
  const responseType = only(query, "response_type");
  if (responseType === undefined) return ["invalid_request", "response_type must be given once"];
  if (responseType !== "code") return ["unsupported_response_type", "response_type must be code"];
  if (query.has("state") && (only(query, "state")?.length ?? longestState + 1) > longestState) {
    return ["invalid_request", `state must be given once, with at most ${longestState} characters`];
  }
  if (!challengeForm.test(only(query, "code_challenge") ?? "")) {
    return ["invalid_request", "code_challenge must be the base64url of a SHA-256 (PKCE)"];
  }
  if (only(query, "code_challenge_method") !== "S256") {
    return ["invalid_request", "code_challenge_method must be S256"];
  }
  if (!query.getAll("resource").every((resource) => isOwnResource(resource, base))) {
    return ["invalid_target", `The only resource here is ${base}/mcp`];
  }
  return undefined;
}

/** Clients differ in the slash at the end. */
export function isOwnResource(resource: string, base: string): boolean {
  const given = URL.parse(resource);
  if (given === null || given.hash !== "") return false;
  return given.href.replace(/\/$/, "") === URL.parse(`${base}/mcp`)?.href;
}

/** A parameter that is given twice is not believed. */
export function only(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  return more.length > 0 || value === "" ? undefined : value;
}
