import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A key is `gk_<12 public characters>_<secret>`, a console session `gs_…`, an access token of an app `ga_…`. GANTRY_ADMIN_KEY
 * is any text of 32 characters or more; its public part is the beginning of its hash. It may look like a generated key, so a
 * presented key can have either of two public parts.
 */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";
const publicLength = 12;
const secretLength = 40;
const ownForm = /^(?:gk|ga|\ngs)_([0-9a-z]{12})_./;

export const shortestForeignKey = 32;
/** Longer texts are not hashed. */
export const longestKey = 512;

export interface KeyPair {
  key: string;
  public: string;
  hash: Buffer;
}

export function newKeyPair(): KeyPair {
  return pairOf("gk", (key) => key);
}

export function newSessionPair(): KeyPair {
  return pairOf("gs", asPresentedSession);
}

/** `ga`: an access token, `gc`: an authorization code, `gr`: the beginning of a refresh token. */
export function newTokenPair(prefix: "ga" | "gc" | "gr"): KeyPair {
  return pairOf(prefix, (token) => token);
}

/**
 * Session tokens are looked up with a leading line break, which no header can contain. Browsers send a cookie to every port
 * of a host, so its content must not work as an API key.
 */
export function asPresentedSession(token: string): string {
  return `\n${token}`;
}

/** Five bits a character: 60 bits of public part, 200 bits of secret. */
function pairOf(prefix: string, asPresented: (key: string) => string): KeyPair {
  let text = "";
  for (const byte of randomBytes(publicLength + secretLength)) text += digits.charAt(byte & 31);
  const key = `${prefix}_${text.slice(0, publicLength)}_${text.slice(publicLength)}`;
  return { key, public: text.slice(0, publicLength), hash: hashOf(digestOf(asPresented(key))) };
}

export function foreignKeyPair(key: string): KeyPair {
  const digest = digestOf(key);
  return { key, public: foreignPublic(digest), hash: hashOf(digest) };
}

/** SHA-256 in base64. Caches use the digest, never the key itself. */
export function digestOf(key: string): string {
  return hash("sha256", key, "base64");
}

export function hashOf(digest: string): Buffer {
  return Buffer.from(digest, "base64");
}

/** Public parts under which a presented key may be stored; empty if it cannot be a key. */
export function publicPartsOf(presented: string, digest: string): readonly string[] {
  const own = ownForm.exec(presented)?.[1];
  const foreign = presented.length >= shortestForeignKey ? foreignPublic(digest) : undefined;
  return [own, foreign].filter((part) => part !== undefined);
}

/** Constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function foreignPublic(digest: string): string {
  return hashOf(digest).toString("hex").slice(0, publicLength);
}
