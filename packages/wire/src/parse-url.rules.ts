/** `URL.parse`, which Node 20 does not have. */
export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
