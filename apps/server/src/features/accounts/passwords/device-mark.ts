import { randomBytes } from "node:crypto";
import type { Vault } from "../../../engines/vault/vault.ts";

const longestMark = 500;
const contextOf = (userId: string) => `sign-in device ${userId}`;

/** A text for a cookie, with which a browser shows later that the user has signed in there. It is not a credential. */
export function newDeviceMark(vault: Vault | undefined, userId: string): string | undefined {
  return vault && Buffer.from(vault.seal(randomBytes(16).toString("hex"), contextOf(userId))).toString("base64url");
}

/** The device behind a mark; undefined if the mark is another user's or invented. */
export function deviceOf(vault: Vault | undefined, userId: string | undefined, mark: string | undefined) {
  if (!vault || userId === undefined || mark === undefined || mark.length > longestMark) return undefined;
  try {
    return vault.open(Buffer.from(mark, "base64url"), contextOf(userId));
  } catch {
    return undefined;
  }
}
