import type { RoleName, UserKind } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { ConnectedApp } from "./context.ts";
import type { KeyReach, Scope } from "./key-reach.rules.ts";
import { andOfKeys } from "./scope-store.ts";

/** Payload: the id of a user whose rights or keys changed. */
export const accountsChannel = "gantry_accounts";

export interface User {
  id: string;
  username: string;
  kind: UserKind;
  role: RoleName;
  plan: string;
  createdAt: Date;
  disabledAt: Date | null;
  /** Set while the account is being deleted. Then it only waits for its end. */
  deletionRequestedAt: Date | null;
}

export interface Key extends KeyReach {
  id: string;
  userId: string;
  public: string;
  name: string;
  /** Created by a sign-in link. It ends with its session. */
  isSession: boolean;
  /** The app that the user gave this key. */
  connectedApp: ConnectedApp | null;
  keepsInputs: boolean;
  /** The key whose limits it counts towards too. */
  parentId: string | null;
  /** Spent and held this month and today. Counted for keys with such a limit. */
  spentMicros: number;
  spentTodayMicros: number;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Username of the member who created the key of a team. */
  member: string | null;
}

export interface Range {
  limit: number;
  offset: number;
}

const userFields = (sql: Sql) =>
  sql`id, username, kind, role, plan, created_at as "createdAt", disabled_at as "disabledAt",
    (select d.requested_at from account_deletions d where d.user_id = users.id) as "deletionRequestedAt"`;

export const keyFields = (sql: Sql) => sql`
  id, user_id as "userId", public, name, coalesce(session_ends_at, expires_at) as "expiresAt", models,
  session_ends_at is not null as "isSession", monthly_limit_micros as "monthlyLimitMicros", keep_inputs as "keepsInputs",
  coalesce((
    select m.spent_micros + m.reserved_micros from key_months m
    where m.key_id = api_keys.id and m.month = date_trunc('month', now(), 'UTC')::date
  ), 0)::float8 as "spentMicros",
  coalesce((
    select d.spent_micros + d.reserved_micros from key_days d
    where d.key_id = api_keys.id and d.day = (now() at time zone 'UTC')::date
  ), 0)::float8 as "spentTodayMicros",
  parent_id as "parentId", daily_limit_micros as "dailyLimitMicros", tokens_per_minute as "tokensPerMinute",
  created_at as "createdAt", last_used_at as "lastUsedAt",
  (select person.username from users person where person.id = api_keys.member_id) as member,
  (
    select json_build_object('name', c.name, 'redirectUri', o.redirect_uri)
    from oauth_connections o join oauth_clients c on c.id = o.client_id where o.key_id = api_keys.id
  ) as "connectedApp"`;

/** Other nodes receive it when the transaction commits. */
export async function announceChange(sql: Sql, ...userIds: readonly string[]): Promise<void> {
  await sql`select pg_notify(${accountsChannel}, id) from unnest(${userIds}::text[]) id`;
}

// Users. No query returns users with the role `system`.

interface NewUser {
  id: string;
  username: string;
  /** Default: person. */
  kind?: UserKind;
  role: RoleName | "system";
  plan: string;
  passwordHash: string | null;
  createdAt: Date;
}

/** Inserts a user and its wallet. False if the name is taken, or belonged to a deleted account. */
export async function insertUser(sql: Sql, user: NewUser): Promise<boolean> {
  const rows = await sql`
    with made as (
      insert into users (id, username, kind, role, plan, password_hash, created_at)
      select ${user.id}, ${user.username}, ${user.kind ?? "person"}, ${user.role}, ${user.plan}, ${user.passwordHash},
        ${user.createdAt}::timestamptz
      where not exists (
        select from reserved_usernames where hash = sha256(convert_to(${user.username}, 'UTF8')))
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

const listed = (sql: Sql, kind: UserKind | undefined) =>
  sql`role <> 'system' ${kind === undefined ? sql`` : sql`and kind = ${kind}`}`;

export async function countUsers(sql: Sql, kind?: UserKind): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from users where ${listed(sql, kind)}`;
  return row?.count ?? 0;
}

export async function selectUsers(sql: Sql, { limit, offset }: Range, kind?: UserKind): Promise<User[]> {
  return sql<User[]>`
    select ${userFields(sql)} from users where ${listed(sql, kind)} order by id desc limit ${limit} offset ${offset}`;
}

/** Locks the user and every active admin in the order of ids, which avoids deadlocks. */
export async function lockUserAndAdmins(sql: Sql, username: string): Promise<User[]> {
  return sql<User[]>`
    select ${userFields(sql)} from users
    where (username = ${username} and role <> 'system') or (role = 'admin' and disabled_at is null)
    order by id
    for update`;
}

/** `locked`: by `lockUserAndAdmins`. */
export function isLastAdmin(locked: readonly User[], userId: string): boolean {
  return !locked.some(({ id, role, disabledAt }) => id !== userId && role === "admin" && disabledAt === null);
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

/** Returns what the user was before; undefined if it was an active admin. */
export async function reinstateAdmin(
  sql: Sql,
  userId: string,
): Promise<{ role: RoleName; disabled: boolean } | undefined> {
  const [before] = await sql<{ role: RoleName; disabled: boolean }[]>`
    update users set role = 'admin', disabled_at = null
    where id = ${userId} and (role <> 'admin' or disabled_at is not null)
    returning old.role, old.disabled_at is not null as disabled`;
  return before;
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
    /** Default: true. */
    keepsInputs?: boolean;
    sessionEndsAt: Date | null;
    createdAt: Date;
    parentId?: string | null;
    /** For a key of a team. Only a seat has no parent. */
    memberId?: string;
  },
): Promise<Key> {
  const [row] = await sql<Key[]>`
    insert into api_keys (id, user_id, public, secret_hash, name, expires_at, models, monthly_limit_micros,
                          daily_limit_micros, tokens_per_minute, parent_id, member_id, keep_inputs, session_ends_at,
                          created_at)
    values (${key.id}, ${key.userId}, ${key.public}, ${key.secretHash}, ${key.name}, ${key.expiresAt},
            ${key.models as string[] | null}::text[], ${key.monthlyLimitMicros}::bigint,
            ${key.dailyLimitMicros ?? null}::bigint, ${key.tokensPerMinute ?? null}::bigint, ${key.parentId ?? null},
            ${key.memberId ?? null}, ${key.keepsInputs ?? true}, ${key.sessionEndsAt}, ${key.createdAt})
    returning ${keyFields(sql)}`;
  if (!row) throw new Error("key is missing after its insert");
  return row;
}

/** The key of a seat is not managed: it comes and goes with the member. */
const noSeat = (sql: Sql) => sql`(member_id is null or parent_id is not null)`;

/** One change to the keys and sessions of a user, or of a member of a team, at a time. */
export async function lockUser(tx: Sql, userId: string, memberId = userId): Promise<void> {
  await tx`select from users where id = any(${[userId, memberId]}::text[]) order by id for no key update`;
}

export async function isRevoked(sql: Sql, keyId: string): Promise<boolean> {
  return (await sql`select 1 from api_keys where id = ${keyId} and revoked_at is not null`).length > 0;
}

/** Those that work or have expired, without seats and keys of sessions. */
export async function countKeysOf(sql: Sql, userId: string, memberId: string | undefined): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from api_keys
    where user_id = ${userId} and revoked_at is null and session_ends_at is null and ${noSeat(sql)}
      ${memberId === undefined ? sql`` : sql`and member_id = ${memberId}`}`;
  return row?.count ?? 0;
}

/** Without ended sessions, seats, and apps that have not fetched their first token. */
const inList = (sql: Sql, { userId, onlyKeyIds }: Scope, now: Date) => sql`
  user_id = ${userId} and revoked_at is null and ${noSeat(sql)} and (session_ends_at is null or session_ends_at > ${now})
  and not exists (select from oauth_connections o where o.key_id = api_keys.id and o.connected_at is null)
  ${andOfKeys(sql, { onlyKeyIds }, sql`id`)}`;

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

export async function lockKey(sql: Sql, { userId, onlyKeyIds }: Scope, keyId: string): Promise<Key | undefined> {
  const [row] = await sql<Key[]>`
    select ${keyFields(sql)} from api_keys
    where id = ${keyId} and user_id = ${userId} and revoked_at is null and ${noSeat(sql)}
      ${andOfKeys(sql, { onlyKeyIds }, sql`id`)}
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
        revoked_at = null, expires_at = null, models = null, monthly_limit_micros = null,
        daily_limit_micros = null, tokens_per_minute = null, keep_inputs = true
    where id = ${keyId}`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteRetiredPairs(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from retired_key_pairs where public in (
      select public from retired_key_pairs where valid_until < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
