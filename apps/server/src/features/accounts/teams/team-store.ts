import type { TeamRole } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import type { Micros } from "../../../kernel/money.ts";
import { type Key, keyFields, type Range } from "../store.ts";
import type { MemberState } from "./team.rules.ts";

export interface Team {
  id: string;
  name: string;
  plan: string;
  /** Of the person who asks. */
  role: TeamRole | null;
  members: number;
  createdAt: Date;
  closedAt: Date | null;
}

export interface Budget {
  monthlyLimitMicros: Micros;
  dailyLimitMicros: Micros | null;
  tokensPerMinute: number | null;
}

export interface Member extends MemberState, Budget {
  username: string;
  seatId: string;
  /** Spent and held this month. */
  spentMicros: Micros;
  keys: number;
  joinedAt: Date;
  lastActiveAt: Date | null;
}

const teamFields = (sql: Sql) => sql`
  u.id, u.username as name, u.plan, m.role, u.created_at as "createdAt", u.disabled_at as "closedAt",
  (select count(*)::int from team_members c where c.team_id = u.id) as members`;

export async function findTeam(sql: Sql, name: string, personId: string): Promise<Team | undefined> {
  const [team] = await sql<Team[]>`
    select ${teamFields(sql)} from users u left join team_members m on m.team_id = u.id and m.user_id = ${personId}
    where u.username = ${name} and u.kind = 'team' and u.disabled_at is null`;
  return team;
}

export async function selectTeamsOf(sql: Sql, personId: string, { limit, offset }: Range): Promise<Team[]> {
  return sql<Team[]>`
    select ${teamFields(sql)} from team_members m join users u on u.id = m.team_id
    where m.user_id = ${personId} and u.disabled_at is null
    order by u.username limit ${limit} offset ${offset}`;
}

export async function countTeamsOf(sql: Sql, personId: string, role?: TeamRole): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from team_members m join users u on u.id = m.team_id
    where m.user_id = ${personId} and u.disabled_at is null ${role === undefined ? sql`` : sql`and m.role = ${role}`}`;
  return row?.count ?? 0;
}

/** One change of a team and its members at a time. */
export async function lockTeam(tx: Sql, teamId: string): Promise<boolean> {
  const rows = await tx`select 1 from users where id = ${teamId} and disabled_at is null for no key update`;
  return rows.length === 1;
}

export async function selectMemberStates(tx: Sql, teamId: string): Promise<(MemberState & { username: string })[]> {
  return tx<(MemberState & { username: string })[]>`
    select m.user_id as "userId", m.role, p.username, p.disabled_at as "disabledAt"
    from team_members m join users p on p.id = m.user_id where m.team_id = ${teamId}`;
}

const memberFields = (sql: Sql) => sql`
  m.user_id as "userId", p.username, m.role, p.disabled_at as "disabledAt", m.seat_key_id as "seatId",
  k.monthly_limit_micros as "monthlyLimitMicros", k.daily_limit_micros as "dailyLimitMicros",
  k.tokens_per_minute as "tokensPerMinute", coalesce((
    select s.spent_micros + s.reserved_micros from key_months s
    where s.key_id = k.id and s.month = date_trunc('month', now(), 'UTC')::date
  ), 0)::float8 as "spentMicros", (
    select count(*)::int from api_keys own
    where own.user_id = m.team_id and own.member_id = m.user_id and own.id <> k.id and own.revoked_at is null
  ) as keys, m.created_at as "joinedAt", k.last_used_at as "lastActiveAt"`;

export async function selectMembers(sql: Sql, teamId: string, { limit, offset }: Range): Promise<Member[]> {
  return sql<Member[]>`
    select ${memberFields(sql)}
    from team_members m join users p on p.id = m.user_id join api_keys k on k.id = m.seat_key_id
    where m.team_id = ${teamId} order by p.username limit ${limit} offset ${offset}`;
}

export async function findMember(sql: Sql, teamId: string, username: string): Promise<Member | undefined> {
  const [member] = await sql<Member[]>`
    select ${memberFields(sql)}
    from team_members m join users p on p.id = m.user_id join api_keys k on k.id = m.seat_key_id
    where m.team_id = ${teamId} and p.username = ${username}`;
  return member;
}

export interface Person {
  id: string;
  username: string;
}

/** A person who can join: not a team, not disabled. Locks it, before any team, so that it is not deleted meanwhile. */
export async function lockPerson(tx: Sql, username: string): Promise<Person | undefined> {
  const [person] = await tx<Person[]>`
    select id, username from users
    where username = ${username} and kind = 'person' and role <> 'system' and disabled_at is null for no key update`;
  return person;
}

export async function insertMember(
  tx: Sql,
  member: { teamId: string; userId: string; role: TeamRole; seatId: string; createdAt: Date },
): Promise<void> {
  await tx`
    insert into team_members (team_id, user_id, role, seat_key_id, created_at)
    values (${member.teamId}, ${member.userId}, ${member.role}, ${member.seatId}, ${member.createdAt})`;
}

export async function updateRole(tx: Sql, teamId: string, userId: string, role: TeamRole): Promise<void> {
  await tx`update team_members set role = ${role} where team_id = ${teamId} and user_id = ${userId}`;
}

/** The wallet protects the counters of the team's keys, and is locked before any key. */
export async function lockSeat(tx: Sql, teamId: string, seatId: string): Promise<Key> {
  await tx`select 1 from wallets where user_id = ${teamId} for update`;
  const [seat] = await tx<Key[]>`
    select ${keyFields(tx)} from api_keys where id = ${seatId} and user_id = ${teamId} for update`;
  if (!seat) throw new Error("a member has no seat");
  return seat;
}

export interface Membership {
  teamId: string;
  teamName: string;
  userId: string;
  username: string;
  role: TeamRole;
}

/** Of a person, in the order in which teams are locked. */
export async function selectMemberships(tx: Sql, personId: string): Promise<Membership[]> {
  return tx<Membership[]>`
    select m.team_id as "teamId", t.username as "teamName", m.user_id as "userId", p.username, m.role
    from team_members m join users t on t.id = m.team_id join users p on p.id = m.user_id
    where m.user_id = ${personId} order by m.team_id`;
}

/** Revokes the seat and the keys of the member. Their rows stay for the ledger. */
export async function deleteMember(tx: Sql, teamId: string, userId: string, now: Date): Promise<void> {
  // Keys are locked before their secrets, as in a rotation.
  await tx`select from api_keys where user_id = ${teamId} and member_id = ${userId} order by id for update`;
  await tx`delete from team_members where team_id = ${teamId} and user_id = ${userId}`;
  await tx`
    delete from retired_key_pairs
    where key_id in (select id from api_keys where user_id = ${teamId} and member_id = ${userId})`;
  await tx`
    update api_keys set revoked_at = ${now}
    where user_id = ${teamId} and member_id = ${userId} and revoked_at is null`;
}

/** For a team that is being deleted, which revokes its keys. Returns the ids of the members. */
export async function deleteMembers(tx: Sql, teamId: string): Promise<string[]> {
  // Keys are locked before their secrets, as in a rotation.
  await tx`select from api_keys where user_id = ${teamId} and member_id is not null order by id for update`;
  await tx`
    delete from retired_key_pairs
    where key_id in (select id from api_keys where user_id = ${teamId} and member_id is not null)`;
  const rows = await tx<{ userId: string }[]>`
    delete from team_members where team_id = ${teamId} returning user_id as "userId"`;
  return rows.map(({ userId }) => userId);
}

/** What keeps a team from being closed. The lock on the wallet keeps out new work meanwhile. */
export async function lockOpenWork(
  tx: Sql,
  teamId: string,
): Promise<{ balance: Micros; reserved: Micros; isWorking: boolean }> {
  const [wallet] = await tx<{ balance: Micros; reserved: Micros }[]>`
    select balance_micros as balance, reserved_micros as reserved from wallets where user_id = ${teamId} for update`;
  const [work] = await tx<{ isWorking: boolean }[]>`
    select exists (select 1 from live_predictions where user_id = ${teamId})
      or exists (select 1 from runs where user_id = ${teamId} and completed_at is null) as "isWorking"`;
  if (!wallet || !work) throw new Error("a team has no wallet");
  return { ...wallet, ...work };
}

export async function closeTeam(tx: Sql, teamId: string, now: Date): Promise<void> {
  await tx`update users set disabled_at = ${now} where id = ${teamId}`;
}
