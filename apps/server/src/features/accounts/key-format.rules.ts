import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A key is `gk_<12 public characters>_<secret>`. The key that the operator brings (GANTRY_ADMIN_KEY) is any text of 32
 * characters or more; its public part is the beginning of its hash. Such a text may look like a key of ours (one that
 * was printed at an earlier start), so a presented key can belong to either of two public parts. A session of the console
 * is `gs_<12 public characters>_<secret>`.
 */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";
const publicLength = 12;
const secretLength = 40;
const ownForm = /^(?:gk|\ngs)_([0-9a-z]{12})_./;

export const shortestForeignKey = 32;
/** Longer than any key; what is longer is not even hashed. */
export const longestKey = 512;

export interface KeyPair {
  /** The whole key, to be shown once. */
  key: string;
  public: string;
  hash: Buffer;
}

export function newKeyPair(): KeyPair {
  return pairOf("gk", (key) => key);
}

/** Of somebody who is signed in to the console. */
export function newSessionPair(): KeyPair {
  return pairOf("gs", asPresentedSession);
}

/**
 * What a session is looked up by. A cookie goes to every server on the same machine, whatever its port; what stands in it
 * must be of no use as a key, and no header can hold the line break that comes before it here.
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

/** The pair of a key that the operator chose. */
export function foreignKeyPair(key: string): KeyPair {
  const digest = digestOf(key);
  return { key, public: foreignPublic(digest), hash: hashOf(digest) };
}

/** The SHA-256 of a key as base64 text, which is what callers are remembered by: the key itself is never kept. */
export function digestOf(key: string): string {
  return hash("sha256", key, "base64");
}

export function hashOf(digest: string): Buffer {
  return Buffer.from(digest, "base64");
}

/** The public parts under which a presented key may be stored; none for a text that cannot be a key. */
export function publicPartsOf(presented: string, digest: string): readonly string[] {
  const own = ownForm.exec(presented)?.[1];
  const foreign = presented.length >= shortestForeignKey ? foreignPublic(digest) : undefined;
  return [own, foreign].filter((part) => part !== undefined);
}

/** Takes the same time wherever the two differ. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function foreignPublic(digest: string): string {
  return hashOf(digest).toString("hex").slice(0, publicLength);
}
