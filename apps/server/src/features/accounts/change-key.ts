import { fault } from "../../kernel/errors.ts";
import type { AccountsContext, Caller } from "./context.ts";
import { countPast, pastOf, writeKeyChange } from "./key-limit-store.ts";
import { everythingOf, mayManage, mayWiden, type Scope, scopeOf } from "./key-reach.rules.ts";
import type { KeyChange } from "./key-request.rules.ts";
import { beyondReach, fieldsOf, recordKey, refuseUnknownModels } from "./keys.ts";
import { announceChange, type Key, lockKey } from "./store.ts";
import { readUser } from "./users.ts";

/**
 * Changes name, expiry, models or limits of a key. Work in progress keeps what it was accepted with; new work obeys the new
 * limits, and a new budget includes what the key has spent of its period.
 */
export async function changeKey(
  context: AccountsContext,
  caller: Caller,
  keyId: string,
  change: KeyChange,
): Promise<Key> {
  return store(context, scopeOf(caller), { keyId, change }, (key, next) => {
    if (!mayManage(caller, { ...key, keyId }) || !mayWiden(caller, next)) {
      throw fault("forbidden", beyondReach("change"));
    }
  });
}

/** For admins. */
export async function changeKeyOf(
  context: AccountsContext,
  username: string,
  keyId: string,
  change: KeyChange,
): Promise<Key> {
  const { id: userId } = await readUser(context, username);
  return store(context, everythingOf(userId), { keyId, change }, () => {});
}

async function store(
  context: AccountsContext,
  scope: Scope,
  { keyId, change }: { keyId: string; change: KeyChange },
  check: (key: Key, next: Key) => void,
): Promise<Key> {
  const { userId } = scope;
  if (change.models) await refuseUnknownModels(context, userId, { models: change.models });
  const { database, clock } = context;
  const now = clock.now();
  const setsBudget = change.monthlyLimitMicros != null || change.dailyLimitMicros != null;
  // Read before the lock, which holds up the user's predictions. What follows under the lock is short.
  const past = setsBudget ? await pastOf(database.sql, { userId, keyId }, now) : undefined;
  const changed = await database.transaction(async (tx) => {
    // The wallet protects the counters of the user's keys, and is locked before any key.
    await tx`select 1 from wallets where user_id = ${userId} for update`;
    const key = await lockKey(tx, scope, keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (key.isSession) throw fault("conflict", "A console session cannot be changed. Revoke it instead.");
    if (key.connectedApp && change.models === null) {
      const msg = "Choose at least one model or agent: a connected app gets no access to others.";
      throw fault("value_error", msg, { loc: ["body", "models"] });
    }
    const next = { ...key, ...change };
    check(key, next);
    if (past) await countPast(tx, { key, next }, past, now);
    const written = await writeKeyChange(tx, key, next, now);
    await announceChange(tx, userId);
    await recordKey(tx, "key.update", written, { before: fieldsOf(key), after: fieldsOf(written) });
    return written;
  });
  context.forgetUser(userId);
  return changed;
}
