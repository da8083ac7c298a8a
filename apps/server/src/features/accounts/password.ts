import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/**
 * Stored as `scrypt$<N>$<r>$<p>$<salt>$<hash>`, so that the cost can be raised later. One hash takes 32 MB and some tenths of
 * a second, off the event loop.
 */
const cost = { N: 32_768, r: 8, p: 3 };
const hashLength = 32;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/** Verified for users without a password, so that they take as long as others. */
export const nobodysHash = ["scrypt", cost.N, cost.r, cost.p, randomBytes(16), randomBytes(hashLength)]
  .map((part) => (Buffer.isBuffer(part) ? part.toString("base64url") : part))
  .join("$");

/** Made at a lower cost than new ones. */
export function isOutdated(stored: string): boolean {
  const [, N, r, p] = stored.split("$").map(Number);
  return Number(N) * Number(r) * Number(p) < cost.N * cost.r * cost.p;
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [form, N, r, p, salt, hash] = stored.split("$");
  if (form !== "scrypt" || salt === undefined || hash === undefined)
    throw new Error("unknown format of a password hash");
  const expected = Buffer.from(hash, "base64url");
  const made = await derive(password, Buffer.from(salt, "base64url"), { N: Number(N), r: Number(r), p: Number(p) });
  return made.length === expected.length && timingSafeEqual(made, expected);
}

function derive(password: string, salt: Buffer, { N, r, p }: typeof cost): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  return new Promise((resolve, reject) => {
    // Keyboards may produce different code points for the same password.
    scrypt(password.normalize("NFKC"), salt, hashLength, options, (error, hash) => {
      if (error) reject(error);
      else resolve(hash);
    });
  });
}
