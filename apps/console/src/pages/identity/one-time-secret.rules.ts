export interface SplitResult {
  /** The answer as it may be kept and looked at. */
  result: unknown;
  secret: string | undefined;
}

/** The actions whose answer has a secret in it that nobody can read again. */
const makers = ["idp_client_create", "idp_client_rotate_secret"];

/** Takes the secret that an action made out of its answer. */
export function splitSecret(action: string, result: unknown): SplitResult {
  if (!makers.includes(action) || typeof result !== "object" || result === null) return { result, secret: undefined };
  const { client_secret: secret } = result as { client_secret?: unknown };
  if (typeof secret !== "string" || secret === "" || secret === "[hidden]") return { result, secret: undefined };
  return { result: { ...result, client_secret: "[shown once]" }, secret };
}
