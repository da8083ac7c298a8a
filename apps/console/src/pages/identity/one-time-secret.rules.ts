export interface SplitResult {
  /** The response without the secret. */
  result: unknown;
  secret: string | undefined;
}

/** Actions whose response contains a secret that cannot be read again. */
const actionsWithSecret = ["idp_client_create", "idp_client_rotate_secret"];

export function splitSecret(action: string, result: unknown): SplitResult {
  if (!actionsWithSecret.includes(action) || typeof result !== "object" || result === null)
    return { result, secret: undefined };
  const { client_secret: secret } = result as { client_secret?: unknown };
  if (typeof secret !== "string" || secret === "" || secret === "[hidden]") return { result, secret: undefined };
  return { result: { ...result, client_secret: "[shown once]" }, secret };
}
