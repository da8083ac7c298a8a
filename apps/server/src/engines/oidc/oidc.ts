/** Why a sign-in at the provider failed. The message is for the log. */
export type OidcFailure =
  /** The provider cannot be reached, or fails. */
  | "unavailable"
  /** The person or the provider refused. */
  | "refused"
  /** The answer is not the one that belongs to the sign-in, or is not valid. */
  | "invalid";

export class OidcError extends Error {
  readonly reason: OidcFailure;

  constructor(reason: OidcFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "OidcError";
    this.reason = reason;
  }
}

/** What only the browser that began a sign-in may know. */
export interface OidcChecks {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
}

export interface OidcIdentity {
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
  /** Shown to the provider when the person signs out. */
  idToken: string;
}

/** Sign-in at an OpenID provider: authorization code with PKCE, state and nonce. Signatures of ID tokens are verified. */
export interface OidcEngine {
  begin(redirectUri: string): Promise<{ url: string; checks: OidcChecks }>;
  /** `query`: of the address that the provider sent the browser to. Asks for user info if a needed claim is missing. */
  finish(query: URLSearchParams, checks: OidcChecks, needed: readonly string[]): Promise<OidcIdentity>;
  /** Where the browser signs out at the provider; undefined if the provider has no such page. */
  signOutUrl(returnTo: string, idToken: string | undefined): Promise<string | undefined>;
}
