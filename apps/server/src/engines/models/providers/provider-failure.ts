/** Why a provider could not be listed or tested. */
export type ProviderFailureReason =
  | "invalid_url"
  | "address_refused"
  | "unknown_host"
  | "connection_refused"
  | "unreachable"
  | "proxy"
  | "tls"
  | "timeout"
  | "cut"
  | "too_large"
  | "redirect"
  | "key_missing"
  | "key_refused"
  | "not_allowed"
  | "not_found"
  | "unknown_model"
  /** The model thought until the output limit of the test. */
  | "limit_reached"
  | "busy"
  | "starting"
  | "failed"
  | "refused"
  | "web_page"
  | "not_json"
  | "not_a_list"
  | "other_server"
  | "nothing_to_list"
  | "no_models";

/** The message is for users: it has neither the key nor any text of the server. */
export class ProviderFailure extends Error {
  readonly reason: ProviderFailureReason;

  constructor(reason: ProviderFailureReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ProviderFailure";
    this.reason = reason;
  }
}
