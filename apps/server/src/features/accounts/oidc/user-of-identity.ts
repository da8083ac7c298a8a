import { newId, type SignInProblem } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import type { OidcIdentity } from "../../../engines/oidc/oidc.ts";
import type { Log } from "../../../kernel/log.ts";
import { type AuditEntry, actorIs } from "../../audit/index.ts";
import { planExists } from "../plans.ts";
import { maySignIn } from "../sign-in-ways.ts";
import { findUser, insertUser, isLastAdmin, lockUserAndAdmins, type User, updateUser } from "../store.ts";
import { namesOnePerson, type OidcRules, planOf, roleOf, usernameOf } from "./oidc.rules.ts";
import { findIdentity, insertIdentity, lockIdentity } from "./oidc-store.ts";

interface Person {
  identity: OidcIdentity;
  groups: ReadonlySet<string>;
  rules: OidcRules;
  now: Date;
  log: Log;
}

/** `done` is to be recorded. */
type Found =
  | { problem: SignInProblem }
  | { userId: string; username: string; hasChanged: boolean; done: readonly AuditEntry[] };

/**
 * The user of a person:
 *
 *     known issuer and subject ──► its user, whatever its name is at the provider now
 *     unknown, name is free ──► a new user, if the settings create users
 *     unknown, name is taken ──► that user, if the settings link users; never an admin who is not one at the provider
 *
 * Role and plan follow the groups at each sign-in.
 */
export async function userOfIdentity(tx: Sql, person: Person): Promise<Found> {
  const { identity, rules } = person;
  await lockIdentity(tx, identity);
  const known = await findIdentity(tx, identity);
  const username = known ?? usernameOf(identity.claims, rules);
  if (username === undefined) return { problem: "name_invalid" };
  const bound = known === undefined ? await bind(tx, person, username) : undefined;
  if (typeof bound === "string") return { problem: bound };
  const user = await findUser(tx, username);
  if (!user || !(await isAdmitted(tx, user.id))) return { problem: "disabled" };
  const changed = await applyGroups(tx, person, user);
  actorIs({ id: user.id, username });
  const done = [bound, changed].filter((entry) => entry !== undefined);
  return { userId: user.id, username, hasChanged: changed !== undefined, done };
}

/** Locks a user that exists, so that it cannot be disabled meanwhile. */
async function bind(
  tx: Sql,
  { identity, groups, rules, now, log }: Person,
  username: string,
): Promise<SignInProblem | AuditEntry> {
  const { issuer, subject } = identity;
  const user = await findUser(tx, username);
  if (!user) {
    if (!rules.createsUsers) return "no_account";
    const id = newId("user");
    const plan = await knownPlan(tx, planOf(groups, rules), log);
    const role = roleOf(groups, rules) ?? "user";
    const made = { id, username, role, plan: plan ?? "free", passwordHash: null, createdAt: now };
    if (!(await insertUser(tx, made)) || !(await insertIdentity(tx, identity, id, now))) return "name_taken";
    const after = { role, plan: made.plan, issuer, subject };
    return { action: "user.create", object: { id, name: username }, ownerId: id, after };
  }
  if (!rules.linksUsers || user.kind !== "person" || !namesOnePerson(identity.claims, rules)) return "name_taken";
  // `applyGroups` may need this lock.
  const locked = await lockUserAndAdmins(tx, username);
  if (!(await isAdmitted(tx, user.id))) return "disabled";
  // People may choose their names at the provider.
  const isAdmin = locked.some(({ id, role }) => id === user.id && role === "admin");
  if (isAdmin && roleOf(groups, rules) !== "admin") return "name_taken";
  if (!(await insertIdentity(tx, identity, user.id, now))) return "name_taken";
  const object = { id: user.id, name: username };
  return { action: "user.link", object, ownerId: user.id, after: { issuer, subject } };
}

async function isAdmitted(tx: Sql, userId: string): Promise<boolean> {
  return (await tx`select 1 from users where id = ${userId} and ${maySignIn(tx)}`).length > 0;
}

/** Undefined if the role and the plan stay. */
async function applyGroups(tx: Sql, { groups, rules, log }: Person, user: User): Promise<AuditEntry | undefined> {
  const ofGroups = { role: roleOf(groups, rules), plan: await knownPlan(tx, planOf(groups, rules), log) };
  if ((ofGroups.role ?? user.role) === user.role && (ofGroups.plan ?? user.plan) === user.plan) return undefined;
  const locked = await lockUserAndAdmins(tx, user.username);
  const current = locked.find(({ id }) => id === user.id) ?? user;
  // An admin may have changed what the groups do not decide.
  const wanted = { role: ofGroups.role ?? current.role, plan: ofGroups.plan ?? current.plan };
  const keepsRole = current.role === "admin" && isLastAdmin(locked, user.id);
  const role = keepsRole ? current.role : wanted.role;
  if (role !== wanted.role) log.warn({ username: user.username }, "The last active admin keeps the role");
  await updateUser(tx, user.id, { ...current, ...wanted, role, passwordHash: undefined });
  return {
    action: "user.update",
    object: { id: user.id, name: user.username },
    ownerId: user.id,
    before: { role: current.role, plan: current.plan },
    after: { role, plan: wanted.plan },
  };
}

/** A plan that an admin has deleted must not keep people out. */
async function knownPlan(tx: Sql, plan: string | undefined, log: Log): Promise<string | undefined> {
  if (plan === undefined || (await planExists(tx, plan))) return plan;
  log.warn({ plan }, "GANTRY_OIDC_PLAN_GROUPS names a plan that does not exist. The plan of the user stays.");
  return undefined;
}
