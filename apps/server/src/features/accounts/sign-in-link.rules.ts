import { hash, randomBytes } from "node:crypto";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Whoever starts a server for the first time may look at what it printed on the next day. */
export const firstLinkMs = 24 * hourMs;
export const linkMs = 15 * minuteMs;
/** How long one is signed in by a link. */
export const sessionMs = 12 * hourMs;

/** 32 bytes in base64url. */
const tokenForm = /^[\w-]{43}$/;

export interface SignInToken {
  /** To be shown once. */
  token: string;
  hash: Buffer;
}

export function newSignInToken(): SignInToken {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: hash("sha256", token, "buffer") };
}

/** What a token is stored by; undefined for a text that cannot be one. */
export function tokenHash(presented: string): Buffer | undefined {
  return tokenForm.test(presented) ? hash("sha256", presented, "buffer") : undefined;
}

/** The token stands behind the #, which browsers send to nobody: no log and no proxy on the way sees it. */
export function signInUrl(base: string, token: string): string {
  return `${base}/console/sign-in#${token}`;
}
