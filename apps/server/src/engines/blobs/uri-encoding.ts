/**
 * Percent-encoding as AWS Signature V4 wants it for S3: every byte of the UTF-8 form except the unreserved characters
 * of RFC 3986. `encodeURIComponent` leaves five more alone (`!'()*`).
 */
export function encodeStrict(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A path is encoded once and its slashes stay: S3 differs there from every other AWS service. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeStrict).join("/");
}

/** Undefined for what is no valid encoding of UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export type QueryPairs = readonly (readonly [name: string, value: string])[];

/** Every pair in the order it came, repeated names included. Undefined when one is no valid encoding. */
export function parseQuery(query: string): QueryPairs | undefined {
  const pairs: [string, string][] = [];
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    // A client that rebuilds a link may write a space as "+"; a plus sign itself is always %2B in our links.
    const [rawName, rawValue] = equals === -1 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    const name = decodePercent(rawName.replaceAll("+", " "));
    const value = decodePercent(rawValue.replaceAll("+", " "));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

/** Sorted by encoded name, then by encoded value; both are ASCII, so plain comparison is byte order. */
export function canonicalQuery(pairs: QueryPairs): string {
  const encoded = pairs.map(([name, value]) => [encodeStrict(name), encodeStrict(value)] as const);
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  encoded.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return encoded.map(([name, value]) => `${name}=${value}`).join("&");
}
