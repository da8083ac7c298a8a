import { fault } from "../../kernel/errors.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { mayManage, scopeOf } from "./key-reach.rules.ts";
import { announceChange, lockKey, markKeyRevoked } from "./store.ts";

/** Ends a key for good, with the pairs it had before. On this node it is over when this resolves. */
export async function revokeKey(context: AccountsContext, caller: Caller, keyId: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const key = await lockKey(tx, scopeOf(caller), keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", "A restricted key cannot revoke a key that reaches further");
    }
    await markKeyRevoked(tx, key, context.clock.now());
    await announceChange(tx, caller.userId);
  });
  context.forgetUser(caller.userId);
}
