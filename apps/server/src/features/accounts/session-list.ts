import type { SignInWay } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import type { AccountsContext, Caller, Page } from "./context.ts";
import { type KeyReach, mayManage } from "./key-reach.rules.ts";
import { endSessions, markSessionEnded } from "./sessions.ts";
import { announceChange, lockUser, type Range } from "./store.ts";
import { readUser } from "./users.ts";

export interface Session {
  /** The public part of its token. */
  id: string;
  way: SignInWay;
  keyName: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  endsAt: Date;
  address: string | null;
  userAgent: string | null;
}

/** Newest first. */
export function listSessions(context: AccountsContext, { userId }: Caller, range: Range): Promise<Page<Session>> {
  return sessionsOf(context, userId, range);
}

/** For admins. */
export async function listSessionsOf(context: AccountsContext, username: string, range: Range): Promise<Page<Session>> {
  return sessionsOf(context, (await readUser(context, username)).id, range);
}

async function sessionsOf({ database, clock }: AccountsContext, userId: string, range: Range): Promise<Page<Session>> {
  const { sql } = database;
  const now = clock.now();
  const [entries, total] = await Promise.all([
    selectSessions(sql, userId, now, range),
    countSessions(sql, userId, now),
  ]);
  return { entries, total };
}

/** Of another key only if the caller's key may manage that one. */
export async function revokeSession(context: AccountsContext, caller: Caller, id: string): Promise<void> {
  await endOne(context, caller.userId, id, (key) => {
    if (mayManage(caller, key)) return;
    throw fault("forbidden", "A restricted key cannot end sessions with wider access. Use a key without limits.");
  });
}

/** For admins. */
export async function revokeSessionOf(context: AccountsContext, username: string, id: string): Promise<void> {
  await endOne(context, (await readUser(context, username)).id, id, () => {});
}

/** Ends all sessions but the caller's own. Keys keep working. */
export async function revokeOtherSessions(context: AccountsContext, caller: Caller): Promise<void> {
  if (caller.expiresAt !== null) {
    throw fault("forbidden", "A key that expires cannot end all sessions. Use a key without limits.");
  }
  await endAll(context, caller.userId, { except: caller.keyPublic });
}

/** For admins. */
export async function revokeSessionsOf(context: AccountsContext, username: string): Promise<void> {
  await endAll(context, (await readUser(context, username)).id, {});
}

interface SessionKey extends KeyReach {
  keyId: string;
  name: string;
}

async function endOne(
  context: AccountsContext,
  userId: string,
  id: string,
  check: (key: SessionKey) => void,
): Promise<void> {
  const { database, clock, forgetUser } = context;
  await database.transaction(async (tx) => {
    await lockUser(tx, userId);
    const [key] = await tx<SessionKey[]>`
      select k.id as "keyId", k.name, k.models, k.expires_at as "expiresAt", k.monthly_limit_micros as "monthlyLimitMicros"
      from retired_key_pairs p join api_keys k on k.id = p.key_id
      where p.public = ${id} and ${isOpen(tx, userId, clock.now())} for update of p`;
    if (!key) throw fault("not_found", "Session not found");
    check(key);
    await tx`delete from retired_key_pairs where public = ${id} and of_session`;
    await markSessionEnded(tx, key.keyId, clock.now());
    await announceChange(tx, userId);
    await record(tx, { action: "session.end", object: { id, name: key.name }, ownerId: userId });
  });
  forgetUser(userId);
}

async function endAll(context: AccountsContext, userId: string, kept: { except?: string }): Promise<void> {
  await context.database.transaction(async (tx) => {
    await lockUser(tx, userId);
    await endSessions(tx, userId, context.clock.now(), kept);
    await announceChange(tx, userId);
    await record(tx, { action: "session.end", object: { id: "all" }, ownerId: userId });
  });
  context.forgetUser(userId);
}

const endOf = (sql: Sql) => sql`least(p.valid_until, k.session_ends_at, k.expires_at)`;

/** Over retired_key_pairs `p` and their keys `k`. */
const isOpen = (sql: Sql, userId: string, now: Date) => sql`
  k.user_id = ${userId} and k.revoked_at is null and p.of_session and ${endOf(sql)} > ${now}`;

async function selectSessions(sql: Sql, userId: string, now: Date, { limit, offset }: Range): Promise<Session[]> {
  return sql<Session[]>`
    select p.public as id, k.name as "keyName", p.last_used_at as "lastUsedAt", ${endOf(sql)} as "endsAt",
      coalesce(p.sign_in_way, case when k.session_ends_at is null then 'key' else 'link' end) as way,
      coalesce(p.created_at, k.created_at) as "createdAt", p.address, p.user_agent as "userAgent"
    from retired_key_pairs p join api_keys k on k.id = p.key_id
    where ${isOpen(sql, userId, now)}
    order by coalesce(p.created_at, k.created_at) desc, p.public limit ${limit} offset ${offset}`;
}

async function countSessions(sql: Sql, userId: string, now: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from retired_key_pairs p join api_keys k on k.id = p.key_id
    where ${isOpen(sql, userId, now)}`;
  return row?.count ?? 0;
}
