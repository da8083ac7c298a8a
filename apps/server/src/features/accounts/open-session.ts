import type { Sql } from "../../engines/database/database.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { newSessionPair } from "./key-format.rules.ts";
import { sessionMs } from "./sign-in-link.rules.ts";
import { insertSession } from "./sign-in-store.ts";

const mostOfAKey = 100;

/** Signs in with a key, and answers what the session is presented by: it reaches as far as the key, and ends with it. */
export function openSession({ database, clock }: AccountsContext, { keyId }: Caller): Promise<string> {
  return database.transaction((tx) => storeSession(tx, keyId, clock.now()));
}

export async function storeSession(sql: Sql, keyId: string, now: Date): Promise<string> {
  const { key, public: publicPart, hash } = newSessionPair();
  const validUntil = new Date(now.getTime() + sessionMs);
  await insertSession(sql, { keyId, public: publicPart, hash, validUntil }, mostOfAKey);
  return key;
}
