import { hash, randomBytes } from "node:crypto";

/** 32 bytes in base64url. */
const form = /^[\w-]{43}$/;

/** Of a link. Only the hash is stored. */
export function newToken(): { token: string; tokenHash: Buffer } {
  const token = randomBytes(32).toString("base64url");
  return { token, tokenHash: hash("sha256", token, "buffer") };
}

/** Undefined for a text that cannot be a token. */
export function hashOfToken(token: string): Buffer | undefined {
  return form.test(token) ? hash("sha256", token, "buffer") : undefined;
}
