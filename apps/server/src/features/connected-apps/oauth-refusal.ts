/** Codes of RFC 6749, RFC 7591, RFC 8707 and RFC 7009, with the status of their answers. */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  temporarily_unavailable: 429,
} as const;

export type OAuthRefusalCode = keyof typeof statuses;

/** A refusal in the form that OAuth prescribes. Its description is public. */
export class OAuthRefusal extends Error {
  readonly code: OAuthRefusalCode;
  constructor(code: OAuthRefusalCode, description: string) {
    super(description);
    this.name = "OAuthRefusal";
    this.code = code;
  }

  get status(): number {
    return statuses[this.code];
  }
}

export function refusal(code: OAuthRefusalCode, description: string): OAuthRefusal {
  return new OAuthRefusal(code, description);
}
