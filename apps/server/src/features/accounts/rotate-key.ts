import { fault } from "../../kernel/errors.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import type { NewKey } from "./create-key.ts";
import { newKeyPair } from "./key-format.rules.ts";
import { mayManage, scopeOf } from "./key-reach.rules.ts";
import { announceChange, lockKey, replacePair } from "./store.ts";

/**
 * Gives a key a new public part and a new secret. Id, name and limits stay; the old key works for the time of grace.
 *
 *     current ──rotate, grace > 0──► retired ──grace over, or a later rotation's grace over──► gone
 *        └─────rotate, grace = 0─────────────────────────────────────────────────────────────► gone
 */
export async function rotateKey(
  context: AccountsContext,
  caller: Caller,
  keyId: string,
  graceSeconds: number,
): Promise<NewKey> {
  const pair = newKeyPair();
  const record = await context.database.transaction(async (tx) => {
    const key = await lockKey(tx, scopeOf(caller), keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (key.isSession) throw fault("conflict", "A session has no key that could be rotated: revoke it instead");
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", "A restricted key cannot rotate a key that reaches further");
    }
    const now = context.clock.now();
    if (key.expiresAt && key.expiresAt <= now) throw fault("conflict", "The key has expired; make a new one");
    const oldValidUntil = new Date(now.getTime() + graceSeconds * 1000);
    const rotated = await replacePair(tx, key, pair, { now, oldValidUntil });
    await announceChange(tx, caller.userId);
    return rotated;
  });
  context.forgetUser(caller.userId);
  return { record, key: pair.key };
}
