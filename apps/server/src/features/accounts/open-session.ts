import type { Sql } from "../../engines/database/database.ts";
import { invalidKey } from "./authenticate.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { newSessionPair } from "./key-format.rules.ts";
import { sessionMs } from "./sign-in-link.rules.ts";
import { insertSession } from "./sign-in-store.ts";

const mostOfAKey = 100;

/**
 * Signs in with a key, and answers what the session is presented by: it reaches as far as the key, and ends with it; where
 * the key was rotated, no later than the secret that was presented.
 */
export function openSession({ database, clock }: AccountsContext, caller: Caller): Promise<string> {
  return database.transaction((tx) => storeSession(tx, caller, clock.now()));
}

export async function storeSession(sql: Sql, opener: Pick<Caller, "keyId" | "keyPublic">, now: Date): Promise<string> {
  const { key, public: publicPart, hash } = newSessionPair();
  const validUntil = new Date(now.getTime() + sessionMs);
  const isOpen = await insertSession(sql, opener, { public: publicPart, hash, validUntil }, mostOfAKey);
  // A rotation without grace came in between.
  if (!isOpen) throw invalidKey();
  return key;
}
