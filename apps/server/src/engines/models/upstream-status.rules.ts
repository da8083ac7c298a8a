/** Anthropic answers 529 when it is overloaded. */
const temporary = new Set([408, 429, 502, 503, 504, 529]);

export function isTemporary(status: number): boolean {
  return temporary.has(status);
}

/**
 * A 500 may follow finished work. The repeat of a chat or a read costs little. A media run would use the GPU again, so it
 * is not repeated.
 */
export function isWorthRetrying(status: number, { isMediaRun }: { isMediaRun: boolean }): boolean {
  return isTemporary(status) || (status === 500 && !isMediaRun);
}

/** Includes the status, because an agent run shows only this sentence. The upstream's own text may contain secrets. */
export function sentenceFor(status: number): string {
  const who = "The service behind the model";
  if (status === 401 || status === 403) {
    return `${who} refused the credential (status ${status}). Check the secret named in the manifest.`;
  }
  if (status === 404) {
    return `${who} does not have this model or address (status ${status}). Check backend.model and backend.url.`;
  }
  if (status >= 400 && status < 500) return `${who} refused the request (status ${status}).`;
  return `${who} failed (status ${status}).`;
}
