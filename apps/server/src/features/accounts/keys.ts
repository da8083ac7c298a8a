import { newId, readAgentName } from "@gantry/wire";
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

/** `key` is the secret text, which is not stored. */
export interface NewKey {
  record: Key;
  key: string;
}

export async function createKey(context: AccountsContext, caller: Caller, wanted: KeyRequest): Promise<NewKey> {
  if (!mayManage(caller, wanted)) throw fault("forbidden", beyondReach("create"));
  return issueKey(context, caller.userId, wanted);
}

/** For admins. The new key has the reach of its user, so limits of the admin's key do not matter. */
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

/** A misspelt name would create a key that can call nothing. */
async function refuseUnknownModels(
  { callableModels }: AccountsContext,
  userId: string,
  { models }: KeyRequest,
): Promise<void> {
  if (models === null || !callableModels) return;
  const known = await callableModels(userId, models);
  throwIfAny(
    models.flatMap((name, at): Issue[] => {
      const msg = readAgentName(name)
        ? `Agent ${name} does not exist, is not published, or the owner of the key may not run it`
        : `Model ${name} does not exist, or the owner of the key may not call it`;
      return known.has(name) ? [] : [{ type: "value_error", loc: ["body", "models", at], msg, input: name }];
    }),
  );
}

/** Newest first, with expired keys, without revoked keys and ended sessions. */
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
 * Gives a key a new public part and a new secret. Id, name and limits stay; the old secret works during the grace period.
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
    if (key.isSession) throw fault("conflict", "A console session cannot be rotated. Revoke it instead.");
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", beyondReach("rotate"));
    }
    const now = context.clock.now();
    if (key.expiresAt && key.expiresAt <= now) throw fault("conflict", "The key has expired. Create a new one.");
    const oldValidUntil = new Date(now.getTime() + graceSeconds * 1000);
    const rotated = await replacePair(tx, key, pair, { now, oldValidUntil });
    await announceChange(tx, caller.userId);
    return rotated;
  });
  context.forgetUser(caller.userId);
  return { record, key: pair.key };
}

/** The key and its replaced secrets stop working, on this node as soon as this resolves. */
export async function revokeKey(context: AccountsContext, caller: Caller, keyId: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const key = await lockKey(tx, scopeOf(caller), keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", beyondReach("revoke"));
    }
    await markKeyRevoked(tx, key, context.clock.now());
    await announceChange(tx, caller.userId);
  });
  context.forgetUser(caller.userId);
}

function beyondReach(verb: string): string {
  return `A restricted key cannot ${verb} a key with wider access. Use a key without limits.`;
}
