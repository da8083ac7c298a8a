import { newId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { AccountsContext, Caller, Page } from "./context.ts";
import { newKeyPair } from "./key-format.rules.ts";
import { mayManage, scopeOf } from "./key-reach.rules.ts";
import type { KeyRequest } from "./key-request.rules.ts";
import {
  announceChange,
  countKeys,
  findUser,
  insertKey,
  type Key,
  lockKey,
  markKeyRevoked,
  type Range,
  replacePair,
  selectKeys,
} from "./store.ts";

/** A key with its text, which exists only in this answer. */
export interface NewKey {
  record: Key;
  key: string;
}

/** A key for the caller itself. */
export async function createKey(context: AccountsContext, caller: Caller, wanted: KeyRequest): Promise<NewKey> {
  if (!mayManage(caller, wanted)) throw fault("forbidden", "A restricted key cannot make a key that reaches further");
  return issueKey(context, caller.userId, wanted);
}

/** A key for another user, made by an admin. It reaches what that user reaches, so the admin's own key is no measure. */
export async function createKeyFor(context: AccountsContext, username: string, wanted: KeyRequest): Promise<NewKey> {
  const owner = await findUser(context.database.sql, username);
  if (!owner) throw fault("not_found", "User not found");
  return issueKey(context, owner.id, wanted);
}

async function issueKey(context: AccountsContext, userId: string, wanted: KeyRequest): Promise<NewKey> {
  await refuseUnknownModels(context, userId, wanted);
  const models = wanted.models && [...new Set(wanted.models)];
  const { database, clock } = context;
  return storeKey(database.sql, userId, { ...wanted, models, sessionEndsAt: null }, clock.now());
}

/** A new key that nothing is to be said against. */
export async function storeKey(
  sql: Sql,
  userId: string,
  wanted: KeyRequest & { sessionEndsAt: Date | null },
  createdAt: Date,
): Promise<NewKey> {
  const pair = newKeyPair();
  const stored = { public: pair.public, secretHash: pair.hash };
  const record = await insertKey(sql, { ...wanted, id: newId("key"), userId, ...stored, createdAt });
  return { record, key: pair.key };
}

/** A misspelt name would make a key that can call nothing. A model that its owner may not call is as good as none. */
async function refuseUnknownModels(
  { callableModels }: AccountsContext,
  userId: string,
  { models }: KeyRequest,
): Promise<void> {
  if (models === null || !callableModels) return;
  const known = await callableModels(userId, models);
  throwIfAny(
    models.flatMap((endpointId, at): Issue[] => {
      const msg = `There is no model ${endpointId} that the owner of the key may call`;
      return known.has(endpointId)
        ? []
        : [{ type: "value_error", loc: ["body", "models", at], msg, input: endpointId }];
    }),
  );
}

/** The caller's keys, newest first: expired ones too, but no revoked ones and none of ended sessions. */
export async function listKeys({ database, clock }: AccountsContext, caller: Caller, range: Range): Promise<Page<Key>> {
  const now = clock.now();
  const scope = scopeOf(caller);
  const [entries, total] = await Promise.all([
    selectKeys(database.sql, scope, now, range),
    countKeys(database.sql, scope, now),
  ]);
  return { entries, total };
}

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
