import { type Fault, fault } from "../../kernel/errors.ts";
import type { AccountsContext } from "./context.ts";
import { storeKey } from "./create-key.ts";
import { storeSession } from "./open-session.ts";
import { sessionMs, tokenHash } from "./sign-in-link.rules.ts";
import { takeSignInLink } from "./sign-in-store.ts";

/**
 * Spends a link on a key of its user, which nobody gets to see, and answers the session that is opened with it.
 *
 *     made ──used, in time, its user not disabled──► gone, and a session is open
 *       └────out of time──► of no use, until it is swept
 *
 * `isKnown` tells of all that are asked about at the same time at once, as invented keys are looked up: a flood of
 * invented links holds one connection.
 */
export async function useSignInLink(
  { database, clock }: AccountsContext,
  isKnown: (hash: Buffer) => Promise<boolean>,
  token: string,
): Promise<string> {
  const hash = tokenHash(token);
  if (!hash || !(await isKnown(hash))) throw useless();
  return database.transaction(async (tx) => {
    const now = clock.now();
    const userId = await takeSignInLink(tx, hash, now);
    if (userId === undefined) throw useless();
    const sessionEndsAt = new Date(now.getTime() + sessionMs);
    const session = { name: "Console", models: null, monthlyLimitMicros: null, expiresAt: null, sessionEndsAt };
    const { record } = await storeKey(tx, userId, session, now);
    return storeSession(tx, { keyId: record.id, keyPublic: record.public }, now);
  });
}

/** One sentence for all: whoever guesses learns nothing about what there is. */
function useless(): Fault {
  return fault("unauthorized", "This sign-in link was used or has expired: make a new one", {
    headers: { "www-authenticate": "Bearer" },
  });
}
