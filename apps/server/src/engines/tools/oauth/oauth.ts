/** What a tool server and its authorization server publish about themselves. */
export interface OAuthServer {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  registrationEndpoint?: string | undefined;
  revocationEndpoint?: string | undefined;
  /** Empty if the server does not list them. */
  authMethods: string[];
  /** The server adds `iss` to its answers (RFC 9207). */
  sendsIssuer: boolean;
  /** Name of the tool server for `resource` (RFC 8707), if it publishes one. */
  resource?: string | undefined;
  /** Scopes that the tool server asks for. */
  scope?: string | undefined;
  /** `offline_access` gives refresh tokens. */
  hasOfflineAccess: boolean;
}

export interface OAuthClient {
  id: string;
  secret?: string | undefined;
  /** The method that the registration names. */
  authMethod?: string | undefined;
  /** When the registration of the secret ends, in seconds since 1970. */
  secretExpiresAt?: number | undefined;
}

export interface OAuthTokens {
  accessToken: string;
  refreshToken?: string | undefined;
  expiresInSeconds?: number | undefined;
}

export interface AuthorizationRequest {
  redirectUri: string;
  state: string;
  verifier: string;
  scope?: string | undefined;
}

export type OAuthFailure =
  /** A private address, which calls of users may not reach. */
  | "address_refused"
  /** No connection, no answer in time, or an error of the other side: a later attempt may succeed. */
  | "unavailable"
  /** The grant is not valid any more, or was refused. */
  | "refused"
  /** A document that is wrong, missing or not trusted. */
  | "protocol";

/** The message is for the user who authorizes. It quotes the other side without secrets. */
export class OAuthError extends Error {
  readonly reason: OAuthFailure;
  /** The authorization server does not know the client, or not with its secret. */
  readonly isClientUnknown: boolean;

  constructor(reason: OAuthFailure, message: string, options: { cause?: unknown; isClientUnknown?: boolean } = {}) {
    super(message, options);
    this.name = "OAuthError";
    this.reason = reason;
    this.isClientUnknown = options.isClientUnknown ?? false;
  }
}

/**
 * The client side of OAuth 2.1 for tool servers: discovery (RFC 9728, RFC 8414, OpenID), dynamic registration (RFC 7591),
 * authorization code with PKCE, refresh and revocation (RFC 7009).
 *
 * Guarantees:
 * - every request goes through the net port, without redirects, with bounds on time and size;
 * - secrets are sent only to endpoints with https, or http on private and loopback addresses;
 * - a document that names another issuer or another tool server is refused;
 * - failures are `OAuthError`s.
 */
export interface OAuthEngine {
  discover(target: { url: string; connectionType: "streamable_http" | "sse" }): Promise<OAuthServer>;
  register(server: OAuthServer, options: { redirectUri: string; scope?: string | undefined }): Promise<OAuthClient>;
  /** The address that the user's browser opens. */
  authorizationUrl(server: OAuthServer, client: OAuthClient, request: AuthorizationRequest): string;
  exchange(
    server: OAuthServer,
    client: OAuthClient,
    grant: { code: string; verifier: string; redirectUri: string },
  ): Promise<OAuthTokens>;
  refresh(server: OAuthServer, client: OAuthClient, refreshToken: string): Promise<OAuthTokens>;
  /** Revokes the refresh token, or the access token. Does nothing if the server does not offer it. */
  revoke(server: OAuthServer, client: OAuthClient, tokens: OAuthTokens): Promise<void>;
}
