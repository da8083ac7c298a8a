import type { Net, NetHeaders } from "../../net/net.ts";
import { OAuthError, type OAuthServer } from "./oauth.ts";
import { send, sendForHeaders } from "./oauth-http.ts";
import { secureAddress } from "./secure-address.ts";

type Target = { url: string; connectionType: "streamable_http" | "sse" };
type Document = Record<string, unknown>;

interface Challenge {
  metadata?: string | undefined;
  scope?: string | undefined;
}

/**
 * Finds the authorization server of a tool server:
 *
 *   401 with resource_metadata ──► protected resource metadata ──► authorization server metadata
 *   (none: well-known paths)       (none: the server's own origin)  (RFC 8414, then OpenID)
 */
export async function discover(given: Requests, target: Target): Promise<OAuthServer> {
  const net = within(given, AbortSignal.timeout(discoveryMs));
  const challenge = await challengeOf(net, target);
  const resource = await resourceMetadata(net, target.url, challenge.metadata);
  const [named] = textsIn(resource?.authorization_servers);
  const address = secureAddress(named ?? new URL(target.url).origin, "The address of the authorization server");
  const metadata = await serverMetadata(net, named ?? address.href);
  const scopes = textsIn(resource?.scopes_supported);
  const types = textsIn(metadata.response_types_supported);
  if (types.length > 0 && !types.includes("code")) throw unsuited("authorization codes");
  const challenges = textsIn(metadata.code_challenge_methods_supported);
  if (challenges.length > 0 && !challenges.includes("S256")) throw unsuited("PKCE with S256");
  const sendsIssuer = metadata.authorization_response_iss_parameter_supported === true;
  const authorizationEndpoint = endpoint(metadata, "authorization_endpoint");
  if (!sendsIssuer) checkOrigin(authorizationEndpoint, address);
  return {
    issuer: String(metadata.issuer),
    authorizationEndpoint,
    tokenEndpoint: endpoint(metadata, "token_endpoint"),
    registrationEndpoint: optionalEndpoint(metadata, "registration_endpoint"),
    revocationEndpoint: optionalEndpoint(metadata, "revocation_endpoint"),
    authMethods: textsIn(metadata.token_endpoint_auth_methods_supported),
    sendsIssuer,
    resource: resource && String(resource.resource),
    scope: challenge.scope ?? (scopes.length > 0 ? scopes.join(" ") : undefined),
    hasOfflineAccess: textsIn(metadata.scopes_supported).includes("offline_access"),
  };
}

/** All documents together. */
const discoveryMs = 20_000;

type Requests = Pick<Net, "request">;

function within({ request }: Requests, signal: AbortSignal): Requests {
  return { request: (one) => request({ ...one, signal }) };
}

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "gantry", version: "1" } },
});

/** The first request of an MCP client, without credentials. */
async function challengeOf(net: Requests, { url, connectionType }: Target): Promise<Challenge> {
  const { status, headers } = await sendForHeaders(
    net,
    connectionType === "sse"
      ? { url, headers: { accept: "text/event-stream", "user-agent": "gantry" } }
      : {
          url,
          method: "POST",
          headers: {
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "user-agent": "gantry",
          },
          body: initialize,
        },
  );
  return status === 401 ? readChallenge(headers) : {};
}

function readChallenge(headers: NetHeaders): Challenge {
  const text = [headers["www-authenticate"] ?? []].flat().join(", ");
  const field = (name: string) => {
    const found = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]{1,2048})"|([^\\s,"]{1,2048}))`, "i").exec(text);
    return found?.[1] ?? found?.[2];
  };
  return { metadata: field("resource_metadata"), scope: field("scope") };
}

/** Undefined if the tool server publishes none: then it is its own authorization server. */
async function resourceMetadata(net: Requests, url: string, named: string | undefined): Promise<Document | undefined> {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.replace(/\/$/, "");
  const wellKnown = "/.well-known/oauth-protected-resource";
  const addresses =
    named === undefined
      ? [...new Set([`${wellKnown}${path}${search}`, wellKnown])].map((one) => origin + one)
      : [named];
  for (const address of addresses) {
    const checked = named === undefined ? address : secureAddress(address, "The address of the resource metadata").href;
    const { status, json } = await send(net, { url: checked });
    if (status === 200 && json) return checkResource(json, url);
    if (named !== undefined || status >= 500) {
      throw new OAuthError("unavailable", `The resource metadata at ${checked} cannot be read (status ${status})`);
    }
  }
  return undefined;
}

/** Another server's name would let this server receive tokens that are meant for that one. */
function checkResource(document: Document, url: string): Document {
  const [server, resource] = [new URL(url), URL.parse(String(document.resource))];
  const folder = (path: string) => (path.endsWith("/") ? path : `${path}/`);
  const isIts =
    resource !== null &&
    resource.hash === "" &&
    resource.origin === server.origin &&
    folder(server.pathname).startsWith(folder(resource.pathname));
  if (isIts) return document;
  throw new OAuthError("protocol", "The resource metadata of the tool server is for another server");
}

/** The first document that exists decides. Its issuer must be the address that it was asked for. */
async function serverMetadata(net: Requests, issuer: string): Promise<Document> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const paths = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
    `${path}/.well-known/openid-configuration`,
  ];
  for (const one of new Set(paths)) {
    const { status, json } = await send(net, { url: origin + one });
    if (status === 200 && json) {
      if (withoutSlash(json.issuer) === withoutSlash(issuer)) return json;
      throw new OAuthError("protocol", "The metadata of the authorization server names another issuer");
    }
    if (status >= 500) {
      throw new OAuthError("unavailable", `The authorization server ${origin} answers with status ${status}`);
    }
  }
  throw new OAuthError("protocol", `${origin} does not publish how to authorize (OAuth metadata)`);
}

/**
 * A hostile server could send the browser to another authorization server, and redeem the code there itself (mix-up). An
 * answer that names its issuer (RFC 9207) shows that; without the name, the server may use only addresses of its own.
 */
function checkOrigin(authorizationEndpoint: string, issuer: URL): void {
  const { origin, host } = new URL(authorizationEndpoint);
  if (origin === issuer.origin) return;
  throw new OAuthError(
    "protocol",
    `The authorization server ${issuer.host} sends people to ${host}, but does not name itself in the answer (RFC 9207), so the answer cannot be trusted`,
  );
}

const withoutSlash = (text: unknown) => (typeof text === "string" ? text.replace(/\/$/, "") : undefined);

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string").slice(0, 200) : [];
}

function endpoint(metadata: Document, name: string): string {
  const found = optionalEndpoint(metadata, name);
  if (found === undefined) throw new OAuthError("protocol", `The authorization server has no ${name}`);
  return found;
}

function optionalEndpoint(metadata: Document, name: string): string | undefined {
  const value = metadata[name];
  return typeof value === "string" ? secureAddress(value, `The ${name} of the authorization server`).href : undefined;
}

function unsuited(what: string): OAuthError {
  return new OAuthError("protocol", `The authorization server does not support ${what}`);
}
