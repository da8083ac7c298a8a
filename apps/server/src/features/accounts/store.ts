import type { RoleName } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Caller } from "./context.ts";
import type { KeyReach, Scope } from "./key-reach.rules.ts";

/** Payload: the id of a user whose rights or keys changed. */
export const accountsChannel = "gantry_accounts";

export interface User {
  id: string;
  username: string;
  role: RoleName;
  plan: string;
  createdAt: Date;
  disabledAt: Date | null;
}

export interface Key extends KeyReach {
  id: string;
  userId: string;
  public: string;
  name: string;
  /** Created by a sign-in link. It ends with its session. */
  isSession: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** A working pair, current or retired, with its key and user. */
export interface StoredPair extends KeyReach {
  public: string;
  secretHash: Uint8Array;
  /** Set for a retired pair and for a session. */
  validUntil: Date | null;
  /** Replaced by a rotation, or a session opened with such a secret. */
  inGrace: boolean;
  keyId: string;
  keyName: string;
  /** Set for a session, and for the key of a sign-in link. */
  sessionEndsAt: Date | null;
  lastUsedAt: Date | null;
  userId: string;
  username: string;
  role: RoleName;
  plan: string;
}

export interface Range {
  limit: number;
  offset: number;
}

const userFields = (sql: Sql) => sql`id, username, role, plan, created_at as "createdAt", disabled_at as "disabledAt"`;

const keyFields = (sql: Sql) => sql`
  id, user_id as "userId", public, name, coalesce(session_ends_at, expires_at) as "expiresAt", models,
  session_ends_at is not null as "isSession", monthly_limit_micros as "monthlyLimitMicros", created_at as "createdAt", last_used_at as "lastUsedAt"`;

/** Other nodes receive it when the transaction commits. */
export async function announceChange(sql: Sql, userId: string): Promise<void> {
  await sql`select pg_notify(${accountsChannel}, ${userId})`;
}

// Users. No query returns users with the role `system`.

interface NewUser {
  id: string;
  username: string;
  role: RoleName | "system";
  plan: string;
  passwordHash: string | null;
  createdAt: Date;
}

/** Inserts a user and its wallet. False if the name is taken. */
export async function insertUser(sql: Sql, user: NewUser): Promise<boolean> {
  const rows = await sql`
    with made as (
      insert into users (id, username, role, plan, password_hash, created_at)
      values (${user.id}, ${user.username}, ${user.role}, ${user.plan}, ${user.passwordHash}, ${user.createdAt})
      on conflict (username) do nothing
      returning id
    )
    -- Usage is dated after folded_until, so that no charge comes before those that the ledger has.
    insert into wallets (user_id, folded_until) select made.id, m.charges_until from made, usage_marks m returning user_id`;
  return rows.length === 1;
}

export async function findUser(sql: Sql, username: string): Promise<User | undefined> {
  const [user] = await sql<User[]>`
    select ${userFields(sql)} from users where username = ${username} and role <> 'system'`;
  return user;
}

export async function countUsers(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from users where role <> 'system'`;
  return row?.count ?? 0;
}

export async function selectUsers(sql: Sql, { limit, offset }: Range): Promise<User[]> {
  return sql<User[]>`
    select ${userFields(sql)} from users where role <> 'system' order by id desc limit ${limit} offset ${offset}`;
}

/** Locks the user and every active admin in the order of ids, which avoids deadlocks. */
export async function lockUserAndAdmins(sql: Sql, username: string): Promise<User[]> {
  return sql<User[]>`
    select ${userFields(sql)} from users
    where (username = ${username} and role <> 'system') or (role = 'admin' and disabled_at is null)
    order by id
    for update`;
}

export async function updateUser(
  sql: Sql,
  userId: string,
  change: { role: RoleName; plan: string; disabledAt: Date | null; passwordHash: string | null | undefined },
): Promise<void> {
  await sql`
    update users
    set role = ${change.role}, plan = ${change.plan}, disabled_at = ${change.disabledAt}
      ${change.passwordHash === undefined ? sql`` : sql`, password_hash = ${change.passwordHash}`}
    where id = ${userId}`;
}

export async function reinstateAdmin(sql: Sql, userId: string): Promise<void> {
  await sql`update users set role = 'admin', disabled_at = null where id = ${userId}`;
}

// Keys. Revoked keys stay for the ledger; no query returns them.

export async function insertKey(
  sql: Sql,
  key: KeyReach & {
    id: string;
    userId: string;
    public: string;
    secretHash: Uint8Array;
    name: string;
    sessionEndsAt: Date | null;
    createdAt: Date;
  },
): Promise<Key> {
  const [row] = await sql<Key[]>`
    insert into api_keys (id, user_id, public, secret_hash, name, expires_at, models, monthly_limit_micros,
                          session_ends_at, created_at)
    values (${key.id}, ${key.userId}, ${key.public}, ${key.secretHash}, ${key.name}, ${key.expiresAt},
            ${key.models as string[] | null}::text[], ${key.monthlyLimitMicros}::bigint,
            ${key.sessionEndsAt}, ${key.createdAt})
    returning ${keyFields(sql)}`;
  if (!row) throw new Error("key is missing after its insert");
  return row;
}

/** Without ended sessions. */
const inList = (sql: Sql, { userId, onlyKeyId }: Scope, now: Date) => sql`
  user_id = ${userId} and revoked_at is null and (session_ends_at is null or session_ends_at > ${now})
  ${onlyKeyId === null ? sql`` : sql`and id = ${onlyKeyId}`}`;

export async function countKeys(sql: Sql, scope: Scope, now: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from api_keys where ${inList(sql, scope, now)}`;
  return row?.count ?? 0;
}

export async function selectKeys(sql: Sql, scope: Scope, now: Date, { limit, offset }: Range): Promise<Key[]> {
  return sql<Key[]>`
    select ${keyFields(sql)} from api_keys
    where ${inList(sql, scope, now)}
    order by id desc limit ${limit} offset ${offset}`;
}

export async function lockKey(sql: Sql, { userId, onlyKeyId }: Scope, keyId: string): Promise<Key | undefined> {
  const [row] = await sql<Key[]>`
    select ${keyFields(sql)} from api_keys
    where id = ${keyId} and user_id = ${userId} and revoked_at is null
      ${onlyKeyId === null ? sql`` : sql`and id = ${onlyKeyId}`}
    for update`;
  return row;
}

export async function markKeyRevoked(sql: Sql, { id, userId }: Key, now: Date): Promise<void> {
  await sql`update api_keys set revoked_at = ${now} where id = ${id} and user_id = ${userId}`;
  await sql`delete from retired_key_pairs where key_id = ${id}`;
}

/**
 * Gives a key a new pair. Earlier pairs and their sessions work until `oldValidUntil` at the latest, so a rotation without
 * a grace period ends them all.
 */
export async function replacePair(
  sql: Sql,
  { id, userId }: Key,
  pair: { public: string; hash: Uint8Array },
  { now, oldValidUntil }: { now: Date; oldValidUntil: Date },
): Promise<Key> {
  await sql`
    insert into retired_key_pairs (public, key_id, secret_hash, valid_until)
    select public, id, secret_hash, ${oldValidUntil} from api_keys where id = ${id} and user_id = ${userId}`;
  await sql`
    update retired_key_pairs set valid_until = least(valid_until, ${oldValidUntil}), in_grace = true
    where key_id = ${id}`;
  await sql`delete from retired_key_pairs where key_id = ${id} and valid_until <= ${now}`;
  const [row] = await sql<Key[]>`
    update api_keys set public = ${pair.public}, secret_hash = ${pair.hash} where id = ${id} and user_id = ${userId}
    returning ${keyFields(sql)}`;
  if (!row) throw new Error("locked key is missing");
  return row;
}

/** Gives a key a new pair at once and removes its limits. */
export async function resetKey(sql: Sql, keyId: string, pair: { public: string; hash: Uint8Array }): Promise<void> {
  await sql`delete from retired_key_pairs where key_id = ${keyId}`;
  await sql`
    update api_keys
    set public = ${pair.public}, secret_hash = ${pair.hash},
        revoked_at = null, expires_at = null, models = null, monthly_limit_micros = null
    where id = ${keyId}`;
}

export async function selectPairs(sql: Sql, publicParts: readonly string[]): Promise<StoredPair[]> {
  return sql<StoredPair[]>`
    select p.public, p.secret_hash as "secretHash", p.valid_until as "validUntil", p.in_grace as "inGrace",
           k.id as "keyId", k.name as "keyName", k.expires_at as "expiresAt", k.models,
           k.monthly_limit_micros as "monthlyLimitMicros", k.last_used_at as "lastUsedAt",
           least(case when p.of_session then p.valid_until end, k.session_ends_at) as "sessionEndsAt",
           u.id as "userId", u.username, u.role, u.plan
    from (
      select id as key_id, public, secret_hash, null::timestamptz as valid_until, false as of_session,
        false as in_grace
      from api_keys where public = any(${publicParts as string[]}::text[])
      union all
      select key_id, public, secret_hash, valid_until, of_session, in_grace or not of_session
      from retired_key_pairs where public = any(${publicParts as string[]}::text[])
    ) p
    join api_keys k on k.id = p.key_id
    join users u on u.id = k.user_id
    where k.revoked_at is null and u.disabled_at is null and u.role <> 'system'`;
}

/** Callers of those keys that work at that moment. */
export async function selectCallers(sql: Sql, keyIds: readonly string[], now: Date): Promise<Caller[]> {
  return sql<Caller[]>`
    select u.id as "userId", u.username, u.role, u.plan, k.id as "keyId", k.public as "keyPublic",
      k.name as "keyName", null::timestamptz as "graceEndsAt", k.models, k.expires_at as "expiresAt", k.monthly_limit_micros as "monthlyLimitMicros", k.session_ends_at as "sessionEndsAt"
    from api_keys k join users u on u.id = k.user_id
    where k.id = any(${keyIds as string[]}::text[]) and k.revoked_at is null and u.disabled_at is null
      and (k.expires_at is null or k.expires_at > ${now})`;
}

/** Skips locked keys: a later use is recorded again, and requests must not be waited for. */
export async function writeKeyUse(sql: Sql, keyIds: readonly string[], now: Date, unlessSince: Date): Promise<void> {
  await sql`
    with due as (
      select id from api_keys
      where id = any(${keyIds as string[]}::text[]) and (last_used_at is null or last_used_at <= ${unlessSince})
      order by id
      for update skip locked
    )
    update api_keys set last_used_at = ${now} from due where api_keys.id = due.id`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteRetiredPairs(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from retired_key_pairs where public in (
      select public from retired_key_pairs where valid_until < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
