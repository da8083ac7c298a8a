/** 529 is what Anthropic calls overloaded. */
const unavailable = new Set([408, 429, 502, 503, 504, 529]);

/** A moment, or less to do, may heal it. */
export function isUnavailable(status: number): boolean {
  return unavailable.has(status);
}

export function isWorthRetrying(status: number): boolean {
  return isUnavailable(status) || status === 500;
}

/**
 * What everybody is told about a refusal: what its status says to the owner of the model. The number stands in it too,
 * since a run has this sentence alone to tell. Nothing of the upstream's own words: they may hold secrets.
 */
export function sentenceFor(status: number): string {
  const who = "The service behind the model";
  if (status === 401 || status === 403) {
    return `${who} refused the credential (status ${status}): check the secret that the manifest names`;
  }
  if (status === 404) {
    return `${who} knows no such model or address (status ${status}): check backend.model and backend.url`;
  }
  if (status >= 400 && status < 500) return `${who} refused the request (status ${status})`;
  return `${who} failed (status ${status})`;
}
