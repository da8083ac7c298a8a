import { newId, readAgentName } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { record as recordAction } from "../audit/index.ts";
import { invalidKey, lockCaller } from "./authenticate.ts";
import type { AccountsContext, Caller, Page } from "./context.ts";
import { newKeyPair } from "./key-format.rules.ts";
import { everythingOf, mayManage, type Scope, scopeOf } from "./key-reach.rules.ts";
import type { KeyRequest } from "./key-request.rules.ts";
import {
  announceChange,
  countKeys,
  countKeysOf,
  insertKey,
  isRevoked,
  type Key,
  lockKey,
  lockUser,
  markKeyRevoked,
  type Range,
  replacePair,
  selectKeys,
} from "./store.ts";
import { readUser } from "./users.ts";

/** `key` is the secret text, which is not stored. */
export interface NewKey {
  record: Key;
  key: string;
}

/** `alongside` stores in the same transaction what a connected app gets in place of the secret. */
export async function createKey(
  context: AccountsContext,
  caller: Caller,
  wanted: KeyRequest,
  alongside?: Alongside,
): Promise<NewKey> {
  if (!mayManage(caller, wanted)) throw fault("forbidden", beyondReach("create"));
  // The new key must not escape the budget of the parent, which for a key of a team is that of the member.
  const parentId = caller.team?.seatId ?? caller.parentId ?? null;
  return issueKey(context, caller.userId, { ...wanted, parentId }, { caller, alongside });
}

/** Expired keys count until they are revoked. */
const mostKeys = 1000;

type Alongside = (tx: Sql, keyId: string) => Promise<void>;

/** For admins. The new key has the reach of its user, so limits of the admin's key do not matter. */
export async function createKeyFor(context: AccountsContext, username: string, wanted: KeyRequest): Promise<NewKey> {
  const user = await readUser(context, username);
  if (user.kind === "team") {
    throw fault("conflict", "Keys of a team are created by its members. Add yourself as a member, or ask one.");
  }
  return issueKey(context, user.id, wanted);
}

/** Of a key of a team: the member who creates it. */
interface KeyMember {
  memberId?: string;
}

async function issueKey(
  context: AccountsContext,
  userId: string,
  wanted: KeyRequest,
  { caller, alongside }: { caller?: Caller; alongside?: Alongside | undefined } = {},
): Promise<NewKey> {
  await refuseUnknownModels(context, userId, wanted);
  const models = wanted.models && [...new Set(wanted.models)];
  const { database, clock } = context;
  const member: KeyMember = caller?.team ? { memberId: caller.team.member.userId } : {};
  return database.transaction(async (tx) => {
    await (caller ? lockCaller(tx, caller, clock.now()) : lockUser(tx, userId));
    // The member may have been removed while the lock was waited for.
    if (wanted.parentId != null && (await isRevoked(tx, wanted.parentId))) throw invalidKey();
    if ((await countKeysOf(tx, userId, member.memberId)) >= mostKeys) throw tooManyKeys();
    const made = await storeKey(tx, userId, { ...wanted, ...member, models, sessionEndsAt: null }, clock.now());
    await alongside?.(tx, made.record.id);
    await recordKey(tx, "key.create", made.record, { after: fieldsOf(made.record) });
    return made;
  });
}

function tooManyKeys() {
  return fault(
    "conflict",
    `An account, or a member of a team, has at most ${mostKeys} keys. Revoke those you do not use.`,
  );
}

export function recordKey(
  tx: Sql,
  action: "key.create" | "key.update" | "key.rotate" | "key.revoke",
  { id, name, userId }: Pick<Key, "id" | "name" | "userId">,
  sides: { before?: object; after?: object },
): Promise<void> {
  return recordAction(tx, { action, object: { id, name }, ownerId: userId, ...(sides as Record<string, Fields>) });
}

type Fields = Readonly<Record<string, unknown>>;

/** As the audit log shows a key. */
export function fieldsOf({ name, models, expiresAt, monthlyLimitMicros, keepsInputs, ...key }: Key): Fields {
  const dollars = (micros: number | null | undefined) => (micros == null ? null : dollarsOfMicros(micros));
  return {
    name,
    models,
    expires_at: expiresAt,
    monthly_limit: dollars(monthlyLimitMicros),
    daily_limit: dollars(key.dailyLimitMicros),
    tokens_per_minute: key.tokensPerMinute ?? null,
    keep_inputs: keepsInputs,
    public: key.public,
  };
}

export async function storeKey(
  sql: Sql,
  userId: string,
  wanted: KeyRequest & KeyMember & { sessionEndsAt: Date | null },
  createdAt: Date,
): Promise<NewKey> {
  const pair = newKeyPair();
  const stored = { public: pair.public, secretHash: pair.hash };
  const record = await insertKey(sql, { ...wanted, id: newId("key"), userId, ...stored, createdAt });
  return { record, key: pair.key };
}

/** A misspelt name would create a key that can call nothing. */
export async function refuseUnknownModels(
  { callableModels }: AccountsContext,
  userId: string,
  { models }: Pick<KeyRequest, "models">,
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
export async function listKeys(context: AccountsContext, caller: Caller, range: Range): Promise<Page<Key>> {
  return keysIn(context, scopeOf(caller), range);
}

/** For admins. */
export async function listKeysOf(context: AccountsContext, username: string, range: Range): Promise<Page<Key>> {
  return keysIn(context, everythingOf((await readUser(context, username)).id), range);
}

async function keysIn({ database, clock }: AccountsContext, scope: Scope, range: Range): Promise<Page<Key>> {
  const now = clock.now();
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
    await lockCaller(tx, caller, context.clock.now());
    const key = await lockKey(tx, scopeOf(caller), keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (key.isSession) throw fault("conflict", "A console session cannot be rotated. Revoke it instead.");
    if (key.connectedApp) {
      throw fault("conflict", "A connected app renews its tokens by itself. To end its access, revoke the key.");
    }
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", beyondReach("rotate"));
    }
    // The new secret has the rights of the key's member, such as those of an owner.
    if (key.member !== (caller.team?.member.username ?? null)) {
      throw fault("forbidden", "Only the member who created the key may rotate it. You can revoke it.");
    }
    const now = context.clock.now();
    if (key.expiresAt && key.expiresAt <= now) throw fault("conflict", "The key has expired. Create a new one.");
    const oldValidUntil = new Date(now.getTime() + graceSeconds * 1000);
    const rotated = await replacePair(tx, key, pair, { now, oldValidUntil });
    await announceChange(tx, caller.userId);
    await recordKey(tx, "key.rotate", key, {
      before: { public: key.public },
      after: { public: rotated.public, old_valid_until: oldValidUntil },
    });
    return rotated;
  });
  context.forgetUser(caller.userId);
  return { record, key: pair.key };
}

/** The key and its replaced secrets stop working, on this node as soon as this resolves. */
export async function revokeKey(context: AccountsContext, caller: Caller, keyId: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    await lockUser(tx, caller.userId);
    const key = await lockKey(tx, scopeOf(caller), keyId);
    if (!key) throw fault("not_found", "Key not found");
    if (!mayManage(caller, { ...key, keyId })) {
      throw fault("forbidden", beyondReach("revoke"));
    }
    await markKeyRevoked(tx, key, context.clock.now());
    await announceChange(tx, caller.userId);
    await recordKey(tx, "key.revoke", key, { before: fieldsOf(key) });
  });
  context.forgetUser(caller.userId);
}

/** For admins. */
export async function revokeKeyOf(context: AccountsContext, username: string, keyId: string): Promise<void> {
  const { id: userId } = await readUser(context, username);
  await context.database.transaction(async (tx) => {
    await lockUser(tx, userId);
    const key = await lockKey(tx, everythingOf(userId), keyId);
    if (!key) throw fault("not_found", "Key not found");
    await markKeyRevoked(tx, key, context.clock.now());
    await announceChange(tx, userId);
    await recordKey(tx, "key.revoke", key, { before: fieldsOf(key) });
  });
  context.forgetUser(userId);
}

/** For a connected app that ends its own access. Call `forgetUser` after the transaction. */
export async function endKey(tx: Sql, { id, userId }: { id: string; userId: string }, now: Date): Promise<void> {
  const key = await lockKey(tx, everythingOf(userId), id);
  // A person revoked it meanwhile.
  if (!key) return;
  await markKeyRevoked(tx, key, now);
  await announceChange(tx, userId);
  await recordKey(tx, "key.revoke", key, { before: fieldsOf(key) });
}

export function beyondReach(verb: string): string {
  return `A restricted key cannot ${verb} a key with wider access. Use a key without limits.`;
}
