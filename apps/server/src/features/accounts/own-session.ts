import type { Sql } from "../../engines/database/database.ts";
import { type AuditEntry, record } from "../audit/index.ts";
import { storeKey } from "./keys.ts";
import { type Origin, recordSession, sessionMs, storeSession } from "./sessions.ts";

/**
 * A session with a key of its own, which has all rights of the user. Call it last: it locks the end of the audit log.
 * `done`: what the transaction did before, to record first.
 */
export async function openOwnSession(
  tx: Sql,
  { userId, username, ...origin }: Origin & { userId: string; username: string },
  now: Date,
  done: readonly AuditEntry[] = [],
): Promise<string> {
  const sessionEndsAt = new Date(now.getTime() + sessionMs);
  const wanted = { name: "Console", models: null, monthlyLimitMicros: null, expiresAt: null, sessionEndsAt };
  const { record: key } = await storeKey(tx, userId, wanted, now);
  const opener = { userId, username, keyId: key.id, keyPublic: key.public, keyName: key.name };
  const token = await storeSession(tx, opener, origin, now);
  for (const entry of done) await record(tx, entry);
  await recordSession(tx, "session.open", opener, { by: origin.way });
  return token;
}
