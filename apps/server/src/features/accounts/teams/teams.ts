import { type CreateTeamBody, newId, type TeamRole } from "@gantry/wire";
import { fault } from "../../../kernel/errors.ts";
import { dollarsOfMicros } from "../../../kernel/money.ts";
import { record } from "../../audit/index.ts";
import type { AccountsContext, Caller, Page } from "../context.ts";
import { announceChange, insertUser, type Range } from "../store.ts";
import { teamNotFound } from "./acting.ts";
import { requireTeam } from "./find-team.ts";
import { takeSeat } from "./members.ts";
import {
  closeTeam as closeTeamRow,
  countTeamsOf,
  lockOpenWork,
  lockPerson,
  lockTeam,
  selectTeamsOf,
  type Team,
} from "./team-store.ts";

/** A bound for the setting that lets everyone create teams. */
const mostOwned = 20;

export async function listTeams({ database }: AccountsContext, caller: Caller, range: Range): Promise<Page<Team>> {
  const [entries, total] = await Promise.all([
    selectTeamsOf(database.sql, caller.userId, range),
    countTeamsOf(database.sql, caller.userId),
  ]);
  return { entries, total };
}

export async function readTeam(
  { database }: AccountsContext,
  caller: Caller,
  name: string,
): Promise<Team & { as: TeamRole }> {
  return requireTeam(database.sql, caller, name);
}

export async function createTeam(
  context: AccountsContext,
  caller: Caller,
  { name, owner }: CreateTeamBody,
): Promise<Team> {
  const isAdmin = caller.role === "admin";
  if (!isAdmin && context.teamCreation !== "everyone") {
    throw fault("forbidden", "Only admins create teams here. Ask an admin of the service to create one for you.");
  }
  if (!isAdmin && owner !== undefined && owner !== caller.username) {
    throw fault("forbidden", "Only an admin may create a team for another owner. Leave out owner.");
  }
  const { database, clock } = context;
  const id = newId("user");
  const createdAt = clock.now();
  await database.transaction(async (tx) => {
    const person = await lockPerson(tx, owner ?? caller.username);
    if (!person) throw fault("value_error", "User not found", { loc: ["body", "owner"], input: owner });
    if (!isAdmin && (await countTeamsOf(tx, person.id, "owner")) >= mostOwned) {
      throw fault("conflict", `You own ${mostOwned} teams already. Close one first.`);
    }
    const team = {
      id,
      username: name,
      kind: "team",
      role: "user",
      plan: "free",
      passwordHash: null,
      createdAt,
    } as const;
    if (!(await insertUser(tx, team))) throw fault("conflict", "This name is taken by a user or a team");
    await takeSeat(tx, { teamId: id, person, role: "owner", budget: {}, now: createdAt });
    await announceChange(tx, id);
    await record(tx, { action: "team.create", object: { id, name }, ownerId: id });
  });
  context.forgetUser(id);
  return requireTeam(database.sql, caller, name);
}

/** The team's keys stop working and what it has is hidden, as for a disabled user. */
export async function closeTeam(context: AccountsContext, caller: Caller, name: string): Promise<void> {
  const { id } = await context.database.transaction(async (tx) => {
    const team = await requireTeam(tx, caller, name);
    if (!(await lockTeam(tx, team.id))) throw teamNotFound();
    const { as } = await requireTeam(tx, caller, name);
    if (as !== "owner") throw fault("forbidden", "Only an owner may close the team");
    const { balance, reserved, isWorking } = await lockOpenWork(tx, team.id);
    if (isWorking || reserved !== 0) {
      throw fault(
        "conflict",
        "The team has work that is running or waiting. Wait for it or cancel it, then close the team.",
      );
    }
    if (balance !== 0) {
      const left = dollarsOfMicros(balance);
      throw fault("conflict", `The team's balance is $${left}. Ask an admin of the service to bring it to zero first.`);
    }
    await closeTeamRow(tx, team.id, context.clock.now());
    await announceChange(tx, team.id);
    await record(tx, { action: "team.close", object: { id: team.id, name }, ownerId: team.id });
    return team;
  });
  context.forgetUser(id);
}
