/**
 * The content security policy of the console. Signed links can be on another origin: files in a bucket, or a console
 * opened under another address than GANTRY_PUBLIC_URL.
 */
export function pagePolicy(linkAddress: string | undefined): string {
  const links = linkAddress === undefined ? [] : [new URL(linkAddress).origin];
  const policy = Object.entries({
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    // Popovers write style elements.
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
  // A script must satisfy both policies. 'self' cannot have a path, and a path needs no host, which a proxy may change.
  return `${policy}, script-src *:*/console/assets/`;
}
