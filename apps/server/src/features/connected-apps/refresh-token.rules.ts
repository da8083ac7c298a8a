import { createHmac, hash, randomBytes } from "node:crypto";
import { newTokenPair } from "../accounts/index.ts";

/**
 * `gr_<public>_<family>_<current>`. All refresh tokens of a connection share the family; the last part changes with every
 * use. A token with the right family and an old last part was used twice: by its app, or by a thief.
 */
const form = /^(gr_([0-9a-z]{12})_[0-9a-z]{40})_[\w-]{43}$/;

export interface RefreshToken {
  token: string;
  family: string;
  public: string;
}

/** For the connection with that public part. */
export function firstRefreshToken(publicPart: string): RefreshToken {
  const { key, public: ofPair } = newTokenPair("gr");
  const family = key.replace(ofPair, publicPart);
  return { token: `${family}_${randomBytes(32).toString("base64url")}`, family, public: publicPart };
}

export function readRefreshToken(token: string): RefreshToken | undefined {
  const [, family, publicPart] = form.exec(token) ?? [];
  return family === undefined || publicPart === undefined ? undefined : { token, family, public: publicPart };
}

/**
 * The token that replaces another one. The salt, which stays on the server, gives the same token again to an app that did
 * not receive the answer.
 */
export function nextRefreshToken({ token, family }: RefreshToken, salt: Uint8Array): string {
  return `${family}_${createHmac("sha256", salt).update(token).digest("base64url")}`;
}

export function hashOfToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
