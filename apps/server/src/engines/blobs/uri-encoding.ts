/**
 * Percent-encoding of AWS Signature V4 for S3: every UTF-8 byte except the unreserved characters of RFC 3986.
 * `encodeURIComponent` leaves five more (`!'()*`).
 */
export function encodeStrict(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes once and keeps slashes: S3 differs here from every other AWS service. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeStrict).join("/");
}

/** Undefined if the text is not valid percent-encoded UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export type QueryPairs = readonly (readonly [name: string, value: string])[];

/** All pairs in order, repeated names included. Undefined if one is not encoded correctly. */
export function parseQuery(query: string): QueryPairs | undefined {
  const pairs: [string, string][] = [];
  for (const part of query.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    // Clients that rebuild a link may write a space as "+"; our links encode a plus sign as %2B.
    const [rawName, rawValue] = equals === -1 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    const name = decodePercent(rawName.replaceAll("+", " "));
    const value = decodePercent(rawValue.replaceAll("+", " "));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

/** Sorted by encoded name, then value. Both are ASCII, so string comparison is byte order. */
export function canonicalQuery(pairs: QueryPairs): string {
  const encoded = pairs.map(([name, value]) => [encodeStrict(name), encodeStrict(value)] as const);
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  encoded.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return encoded.map(([name, value]) => `${name}=${value}`).join("&");
}
