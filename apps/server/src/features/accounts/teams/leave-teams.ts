import type { Sql } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { record } from "../../audit/index.ts";
import type { User } from "../store.ts";
import { isLastOwner } from "./team.rules.ts";
import { deleteMember, lockTeam, type Membership, selectMemberStates, selectMemberships } from "./team-store.ts";

/** For a person who is being deleted. Refuses if a team would have no active owner. */
export async function leaveTeams(tx: Sql, user: User, now: Date): Promise<Membership[]> {
  const memberships = await selectMemberships(tx, user.id);
  const abandoned: string[] = [];
  for (const { teamId, teamName, userId, role } of memberships) {
    // A closed team is not locked, and needs no owner.
    const isOpen = await lockTeam(tx, teamId);
    const others = (await selectMemberStates(tx, teamId)).filter((member) => member.userId !== userId);
    if (isOpen && isLastOwner({ role }, others)) abandoned.push(teamName);
  }
  if (abandoned.length > 0) throw lastOwner(user.username, abandoned);
  for (const { teamId, userId } of memberships) await deleteMember(tx, teamId, userId, now);
  return memberships;
}

/** At the end of the transaction, as all records. */
export async function recordLeft(tx: Sql, left: readonly Membership[]): Promise<void> {
  for (const { teamId, userId, username, role } of left) {
    const object = { id: userId, name: username };
    await record(tx, { action: "member.remove", object, ownerId: teamId, before: { role } });
  }
}

function lastOwner(username: string, teams: readonly string[]) {
  const named = `the team${teams.length > 1 ? "s" : ""} ${teams.join(", ")}`;
  const advice = "Make another member an owner, or close the team. Then delete the account.";
  return fault("conflict", `${username} is the last active owner of ${named}. ${advice}`, {
    ctx: { teams: [...teams] },
  });
}
