import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { fault } from "../../kernel/errors.ts";
import { canonicalQuery, decodePercent, encodePath, parseQuery } from "./uri-encoding.ts";

/**
 * AWS Signature V4 query signatures for the links of the embedded store. They cover the method, path, host and every query
 * parameter, but not the body (UNSIGNED-PAYLOAD), as in every presigned S3 link.
 */
export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type LinkMethod = "GET" | "PUT" | "HEAD";

export const maxLinkLength = 2083;
/** A week, the limit of AWS. */
export const maxExpiresSeconds = 604_800;
/** Allowed clock difference between nodes. */
const maxSkewMillis = 300_000;
const algorithm = "AWS4-HMAC-SHA256";

interface Signed {
  method: LinkMethod;
  host: string;
  /** Encoded. */
  path: string;
  /** Canonical query without the signature. */
  query: string;
  /** As in X-Amz-Date: 20130524T000000Z. */
  time: string;
  region: string;
}

function signatureOf(signed: Signed, secretAccessKey: string): Buffer {
  const canonicalRequest = [
    signed.method,
    signed.path,
    signed.query,
    `host:${signed.host}\n`,
    "host",
    "UNSIGNED-PAYLOAD",
  ].join("\n");
  const day = signed.time.slice(0, 8);
  const hashed = createHash("sha256").update(canonicalRequest).digest("hex");
  const textToSign = [algorithm, signed.time, `${day}/${signed.region}/s3/aws4_request`, hashed].join("\n");
  return createHmac("sha256", signingKeyOf(secretAccessKey, day, signed.region))
    .update(textToSign)
    .digest();
}

/** Cached: deriving the key of a day takes longer than the rest of a signature. */
let lastSigningKey: { of: string; key: KeyObject } | undefined;

function signingKeyOf(secretAccessKey: string, day: string, region: string): KeyObject {
  const of = `${day}/${region}/${secretAccessKey}`;
  if (lastSigningKey?.of === of) return lastSigningKey.key;
  let bytes: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of [day, region, "s3", "aws4_request"]) bytes = createHmac("sha256", bytes).update(part).digest();
  const key = createSecretKey(Buffer.from(bytes));
  lastSigningKey = { of, key };
  return key;
}

export interface LinkOptions {
  method: LinkMethod;
  /** Scheme, host and, behind a proxy, a path prefix. */
  base: string;
  /** Not encoded, with its leading slash. */
  path: string;
  /** Further signed parameters. */
  query?: Readonly<Record<string, string>>;
  region: string;
  credentials: SigningCredentials;
  now: Date;
  expiresInSeconds: number;
}

export function signLink(options: LinkOptions): string {
  const { method, region, credentials, expiresInSeconds } = options;
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > maxExpiresSeconds) {
    throw new RangeError(`a link must expire after 1 to ${maxExpiresSeconds} seconds, not ${expiresInSeconds}`);
  }
  const base = new URL(options.base);
  const prefix = decodePercent(base.pathname.replace(/\/+$/, "")) ?? "";
  const path = encodePath(prefix + options.path);
  const time = `${options.now.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const query = canonicalQuery([
    ["X-Amz-Algorithm", algorithm],
    ["X-Amz-Credential", `${credentials.accessKeyId}/${time.slice(0, 8)}/${region}/s3/aws4_request`],
    ["X-Amz-Date", time],
    ["X-Amz-Expires", String(expiresInSeconds)],
    ["X-Amz-SignedHeaders", "host"],
    ...Object.entries(options.query ?? {}),
  ]);
  const signature = signatureOf({ method, host: base.host, path, query, time, region }, credentials.secretAccessKey);
  const url = `${base.origin}${path}?${query}&X-Amz-Signature=${signature.toString("hex")}`;
  checkLinkLength(url.length);
  return url;
}

/** For every driver: the API limits the length of links. */
export function checkLinkLength(length: number): void {
  if (length <= maxLinkLength) return;
  throw fault("string_too_long", `The name is too long: its link would exceed ${maxLinkLength} characters`, {
    ctx: { max_length: maxLinkLength },
  });
}

export interface ReceivedLink {
  /** Methods that the link may be signed for; HEAD may use a GET link. */
  methods: readonly LinkMethod[];
  /** Possible original addresses: a proxy can change the host and remove a path prefix. */
  addresses: readonly { host: string; path: string }[];
  /** As received, without the question mark. */
  query: string;
  region: string;
  credentials: SigningCredentials;
  now: Date;
}

/** Throws `forbidden` unless the link was signed with these credentials for this request and is still valid. */
export function verifyLink(received: ReceivedLink): ReadonlyMap<string, string> {
  const { region, credentials } = received;
  const pairs = parseQuery(received.query);
  const values = new Map(pairs);
  if (!pairs || !values.has("X-Amz-Signature")) throw fault("forbidden", "The link is not signed");
  // A repeated name could be signed with one value and read with another.
  if (values.size !== pairs.length) throw wrong();

  const time = values.get("X-Amz-Date") ?? "";
  const signedAt = parseTime(time);
  const expires = values.get("X-Amz-Expires") ?? "";
  if (
    signedAt === undefined ||
    !/^[1-9]\d{0,5}$/.test(expires) ||
    Number(expires) > maxExpiresSeconds ||
    values.get("X-Amz-Algorithm") !== algorithm ||
    values.get("X-Amz-SignedHeaders") !== "host" ||
    values.get("X-Amz-Credential") !== `${credentials.accessKeyId}/${time.slice(0, 8)}/${region}/s3/aws4_request`
  ) {
    throw wrong();
  }

  const given = Buffer.alloc(32);
  given.write(/^[0-9a-f]{64}$/.exec(values.get("X-Amz-Signature") ?? "")?.[0] ?? "", "hex");
  const query = canonicalQuery(pairs.filter(([name]) => name !== "X-Amz-Signature"));
  let matches = false;
  for (const address of received.addresses) {
    const decoded = decodePercent(address.path);
    if (decoded === undefined) throw wrong();
    const path = encodePath(decoded);
    for (const method of received.methods) {
      const expected = signatureOf(
        { method, host: address.host, path, query, time, region },
        credentials.secretAccessKey,
      );
      if (timingSafeEqual(expected, given)) matches = true;
    }
  }
  if (!matches) throw wrong();

  const now = received.now.getTime();
  if (signedAt > now + maxSkewMillis) throw fault("forbidden", "The link is not valid yet");
  if (now > signedAt + Number(expires) * 1000) throw fault("forbidden", "The link has expired");
  return values;
}

function wrong() {
  return fault("forbidden", "The link's signature does not match");
}

function parseTime(time: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const millis = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(millis) ? undefined : millis;
}
