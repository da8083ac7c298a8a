/**
 * What the pages of the console may load and call: themselves, and where signed links lead, which is another origin when
 * the files are in a bucket, or the console was opened by another address than the one that links carry.
 */
export function pagePolicy(linkAddress: string | undefined): string {
  const links = linkAddress === undefined ? [] : [new URL(linkAddress).origin];
  const policy = Object.entries({
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    // The parts that open above a page write style elements.
    "style-src": ["'self'", "'unsafe-inline'"],
    "img-src": ["'self'", "blob:", "data:", ...links],
    "media-src": ["'self'", "blob:", "data:", ...links],
    "connect-src": ["'self'", ...links],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
  })
    .map(([name, sources]) => `${name} ${sources.join(" ")}`)
    .join("; ");
  // A script must satisfy both policies: 'self' takes no path, and a path needs no host that a proxy may have changed.
  return `${policy}, script-src *:*/console/assets/`;
}
