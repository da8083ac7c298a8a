import { isId } from "@gantry/wire";
import type { ConnectedAppsContext } from "./context.ts";
import { isSameRedirect } from "./redirect-uri.rules.ts";
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
  | { request: AuthorizationRequest; problem?: undefined }
  /** For the person. The app does not receive it: anyone can register any address, and must not lead people there from here. */
  | { problem: string };

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
    return { problem };
  }
  const redirectUri = only(query, "redirect_uri");
  if (redirectUri === undefined || !client.redirectUris.some((own) => isSameRedirect(own, redirectUri))) {
    const problem = "The app did not register the address to which it wants to return (redirect_uri).";
    return { problem };
  }
  const wrong = faultIn(query, base);
  if (wrong !== undefined) return { problem: `The app sent an invalid request: ${wrong}. Start again in the app.` };
  const codeChallenge = only(query, "code_challenge") ?? "";
  return { request: { client, redirectUri, state: only(query, "state"), codeChallenge } };
}

function faultIn(query: URLSearchParams, base: string): string | undefined {
  if (only(query, "response_type") !== "code") return "response_type must be code";
  if (query.has("state") && (only(query, "state")?.length ?? longestState + 1) > longestState) {
    return `state must be given once, with at most ${longestState} characters`;
  }
  if (!challengeForm.test(only(query, "code_challenge") ?? "")) {
    return "code_challenge must be the base64url of a SHA-256 (PKCE)";
  }
  if (only(query, "code_challenge_method") !== "S256") return "code_challenge_method must be S256";
  if (!query.getAll("resource").every((resource) => isOwnResource(resource, base))) {
    return `the only resource here is ${base}/mcp`;
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
