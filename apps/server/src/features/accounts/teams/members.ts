import { randomBytes } from "node:crypto";
import { type AddMemberBody, type ChangeMemberBody, newId, type TeamRole, usernamePattern } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { dollarsOfMicros, type Micros, microsOfDollars } from "../../../kernel/money.ts";
import { record } from "../../audit/index.ts";
import type { AccountsContext, Caller, Page } from "../context.ts";
import { newKeyPair } from "../key-format.rules.ts";
import { countPast, type Past, pastOf, writeKeyChange } from "../key-limit-store.ts";
import { announceChange, insertKey, type Range } from "../store.ts";
import { teamNotFound } from "./acting.ts";
import { personOf, requireManager, requireTeam } from "./find-team.ts";
import { isLastOwner, manages, mayChangeMember, shownMonthlyLimit, storedMonthlyLimit } from "./team.rules.ts";
import {
  type Budget,
  deleteMember,
  findMember,
  insertMember,
  lockPerson,
  lockSeat,
  lockTeam,
  type Member,
  type Person,
  selectMemberStates,
  selectMembers,
  type Team,
  updateRole,
} from "./team-store.ts";

const mostMembers = 1000;

type WantedBudget = Pick<ChangeMemberBody, "monthly_limit" | "daily_limit" | "tokens_per_minute">;

/** What a member may see of another: plain members see who is in the team, not what others spend. */
export type SeenMember = Member & { isHidden: boolean };

export async function listMembers(
  { database }: AccountsContext,
  caller: Caller,
  name: string,
  range: Range,
): Promise<Page<SeenMember>> {
  const team = await requireTeam(database.sql, caller, name);
  const members = await selectMembers(database.sql, team.id, range);
  return { entries: members.map((member) => seenBy(caller, team, member)), total: team.members };
}

export async function readMember(
  { database }: AccountsContext,
  caller: Caller,
  name: string,
  username: string,
): Promise<SeenMember> {
  const team = await requireTeam(database.sql, caller, name);
  return seenBy(caller, team, await requireMember(database.sql, team.id, username));
}

function seenBy(caller: Caller, { as }: { as: TeamRole }, member: Member): SeenMember {
  return { ...member, isHidden: !manages(as) && member.userId !== personOf(caller) };
}

async function requireMember(sql: Sql, teamId: string, username: string): Promise<Member> {
  const member = usernamePattern.test(username) ? await findMember(sql, teamId, username) : undefined;
  if (!member) throw fault("not_found", "Member not found");
  return member;
}

export async function addMember(
  context: AccountsContext,
  caller: Caller,
  name: string,
  { username, role = "member", ...budget }: AddMemberBody,
): Promise<SeenMember> {
  const add = async (tx: Sql, team: OwnTeam, person: Person | undefined): Promise<SeenMember> => {
    requireManager(team.as);
    if (!mayChangeMember(team.as, undefined, role)) throw ownersOnly();
    if (!person) throw fault("value_error", "User not found", { loc: ["body", "username"], input: username });
    if (await findMember(tx, team.id, username)) throw fault("conflict", `${username} is a member of the team already`);
    if (team.members >= mostMembers) throw fault("conflict", `A team has at most ${mostMembers} members`);
    await takeSeat(tx, { teamId: team.id, person, role, budget, now: context.clock.now() });
    const added = await requireMember(tx, team.id, username);
    await recordMember(tx, "member.add", team, added, { after: fieldsOf(added) });
    return { ...added, isHidden: false };
  };
  return changing(context, caller, name, add, username);
}

/** From the next request on: keys of a member have its current role, and admission reads budgets from the database. */
export async function changeMember(
  context: AccountsContext,
  caller: Caller,
  name: string,
  username: string,
  change: ChangeMemberBody,
): Promise<SeenMember> {
  const now = context.clock.now();
  const counted = change.daily_limit == null ? undefined : await readPast(context, caller, { name, username, now });
  return changing(context, caller, name, async (tx, team) => {
    requireManager(team.as);
    const member = await requireMember(tx, team.id, username);
    if (counted && counted.seatId !== member.seatId) throw fault("conflict", `${username} was added again. Try again.`);
    const role = change.role ?? member.role;
    if (!mayChangeMember(team.as, member.role, role)) throw ownersOnly();
    if (role !== member.role) await requireOwnerBeside(tx, team, member);
    await updateRole(tx, team.id, member.userId, role);
    const key = await lockSeat(tx, team.id, member.seatId);
    const next = { ...key, ...budgetOf(change, member) };
    if (counted) await countPast(tx, { key, next }, counted.past, now);
    await writeKeyChange(tx, key, next, now);
    const after = await requireMember(tx, team.id, username);
    await recordMember(tx, "member.update", team, after, { before: fieldsOf(member), after: fieldsOf(after) });
    return { ...after, isHidden: false };
  });
}

/** Of another member, or of the caller itself, which leaves. */
export async function removeMember(
  context: AccountsContext,
  caller: Caller,
  name: string,
  username: string,
): Promise<void> {
  await changing(context, caller, name, async (tx, team) => {
    const isSelf = team.role !== null && username === (caller.team?.member.username ?? caller.username);
    if (!isSelf) requireManager(team.as);
    const member = await requireMember(tx, team.id, username);
    if (!isSelf && !mayChangeMember(team.as, member.role, undefined)) throw ownersOnly();
    await requireOwnerBeside(tx, team, member);
    await deleteMember(tx, team.id, member.userId, context.clock.now());
    await recordMember(tx, "member.remove", team, member, { before: fieldsOf(member) });
  });
}

function recordMember(
  tx: Sql,
  action: "member.add" | "member.update" | "member.remove",
  { id: ownerId }: Team,
  { userId, username }: Member,
  sides: { before?: MemberFields; after?: MemberFields },
): Promise<void> {
  return record(tx, { action, object: { id: userId, name: username }, ownerId, ...sides });
}

type MemberFields = ReturnType<typeof fieldsOf>;

function fieldsOf({ role, monthlyLimitMicros, dailyLimitMicros, tokensPerMinute }: Member) {
  const dollars = (micros: Micros | null) => (micros === null ? null : dollarsOfMicros(micros));
  return {
    role,
    monthly_limit: dollars(shownMonthlyLimit(monthlyLimitMicros)),
    daily_limit: dollars(dailyLimitMicros),
    tokens_per_minute: tokensPerMinute,
  };
}

type OwnTeam = Team & { as: TeamRole };

/**
 * Runs a change of the members, one at a time per team, with the caller's role of that moment. `joining`: a person, who is
 * locked before the team, as in a deletion of the account.
 */
async function changing<T>(
  context: AccountsContext,
  caller: Caller,
  name: string,
  change: (tx: Sql, team: OwnTeam, person: Person | undefined) => Promise<T>,
  joining = "",
): Promise<T> {
  const { teamId, result } = await context.database.transaction(async (tx) => {
    const { id } = await requireTeam(tx, caller, name);
    const person = usernamePattern.test(joining) ? await lockPerson(tx, joining) : undefined;
    if (!(await lockTeam(tx, id))) throw teamNotFound();
    // Read again: the role may have changed while the lock was waited for.
    const team = await requireTeam(tx, caller, name);
    const changed = await change(tx, team, person);
    await announceChange(tx, id);
    return { teamId: id, result: changed };
  });
  context.forgetUser(teamId);
  return result;
}

/** The seat's secret is forgotten at once, so no client can present it. Its name is that of the member, in lists of usage. */
export async function takeSeat(
  tx: Sql,
  seat: {
    teamId: string;
    person: Person;
    role: TeamRole;
    budget: WantedBudget;
    now: Date;
  },
): Promise<void> {
  const { teamId, person, role, now } = seat;
  const key = await insertKey(tx, {
    id: newId("key"),
    userId: teamId,
    memberId: person.id,
    public: newKeyPair().public,
    secretHash: randomBytes(32),
    name: person.username,
    models: null,
    expiresAt: null,
    sessionEndsAt: null,
    createdAt: now,
    ...budgetOf(seat.budget),
  });
  await insertMember(tx, { teamId, userId: person.id, role, seatId: key.id, createdAt: now });
}

/**
 * What the member has spent: a new budget includes it. Read before the locks, because the wallet's lock holds up the
 * predictions of the team.
 */
async function readPast(
  { database: { sql } }: AccountsContext,
  caller: Caller,
  { name, username, now }: { name: string; username: string; now: Date },
): Promise<{ seatId: string; past: Past }> {
  const team = await requireTeam(sql, caller, name);
  requireManager(team.as);
  const { seatId } = await requireMember(sql, team.id, username);
  return { seatId, past: await pastOf(sql, { userId: team.id, keyId: seatId }, now) };
}

function budgetOf(wanted: WantedBudget, current?: Budget): Budget {
  const micros = (dollars: number | null): Micros | null => (dollars === null ? null : microsOfDollars(dollars));
  const { monthly_limit, daily_limit, tokens_per_minute } = wanted;
  return {
    monthlyLimitMicros:
      monthly_limit === undefined && current
        ? current.monthlyLimitMicros
        : storedMonthlyLimit(micros(monthly_limit ?? null)),
    dailyLimitMicros: daily_limit === undefined ? (current?.dailyLimitMicros ?? null) : micros(daily_limit),
    tokensPerMinute: tokens_per_minute === undefined ? (current?.tokensPerMinute ?? null) : tokens_per_minute,
  };
}

function ownersOnly() {
  return fault("forbidden", "Only an owner of the team may change owners");
}

/** For an owner who leaves or loses the role. */
async function requireOwnerBeside(tx: Sql, team: Team, member: Member): Promise<void> {
  const others = (await selectMemberStates(tx, team.id)).filter(({ userId }) => userId !== member.userId);
  if (!isLastOwner(member, others)) return;
  throw fault("conflict", "The last active owner cannot leave or lose the role. Make another member an owner first.");
}
