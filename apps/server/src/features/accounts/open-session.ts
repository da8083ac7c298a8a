import type { Sql } from "../../engines/database/database.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { newSessionPair } from "./key-format.rules.ts";
import { sessionMs } from "./sign-in-link.rules.ts";
import { insertSession } from "./sign-in-store.ts";

const mostOfAKey = 100;

/**
 * Signs in with a key, and answers what the session is presented by: it reaches as far as the key, and ends with it; where
 * the key was rotated, no later than the one that was presented.
 */
export function openSession({ database, clock }: AccountsContext, caller: Caller): Promise<string> {
  return database.transaction((tx) => storeSession(tx, caller.keyId, clock.now(), caller.graceEndsAt));
}

export async function storeSession(sql: Sql, keyId: string, now: Date, latest: Date | null): Promise<string> {
  const { key, public: publicPart, hash } = newSessionPair();
  const end = now.getTime() + sessionMs;
  const validUntil = new Date(Math.min(end, latest?.getTime() ?? end));
  await insertSession(sql, { keyId, public: publicPart, hash, validUntil }, mostOfAKey);
  return key;
}
