import { type TeamRole, usernamePattern } from "@gantry/wire";
import type { Sql } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Caller } from "../context.ts";
import { teamNotFound } from "./acting.ts";
import { manages } from "./team.rules.ts";
import { findTeam, type Team } from "./team-store.ts";

/** The person behind a request, also while it acts for a team. */
export function personOf(caller: Caller): string {
  return caller.team?.member.userId ?? caller.userId;
}

/** The team, if the caller is a member or an admin of the service. A key of a team sees that team only. */
export async function requireTeam(sql: Sql, caller: Caller, name: string): Promise<Team & { as: TeamRole }> {
  const isOther = caller.team !== null && caller.username !== name;
  const team = isOther || !usernamePattern.test(name) ? undefined : await findTeam(sql, name, personOf(caller));
  const as = team?.role ?? (caller.role === "admin" ? "owner" : undefined);
  if (!team || as === undefined) throw teamNotFound();
  return { ...team, as };
}

export function requireManager(as: TeamRole): void {
  if (!manages(as)) throw fault("forbidden", "Only admins and owners of the team may do this");
}
