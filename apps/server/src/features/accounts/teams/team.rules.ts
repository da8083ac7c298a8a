import type { TeamRole } from "@gantry/wire";
import type { Micros } from "../../../kernel/money.ts";
import type { Caller } from "../context.ts";

/**
 * A seat always has a monthly limit, because only limited keys are counted: a budget that is set later in the month knows
 * what was spent before. This one, nine billion dollars, stands for none.
 */
const noLimit: Micros = 9_000_000_000_000_000;

export const storedMonthlyLimit = (limit: Micros | null): Micros => limit ?? noLimit;
export const shownMonthlyLimit = (stored: Micros): Micros | null => (stored === noLimit ? null : stored);

/** Owners change everybody. Admins change admins and members, but no owner, and do not make owners. */
export function mayChangeMember(own: TeamRole, current: TeamRole | undefined, wanted: TeamRole | undefined): boolean {
  if (own === "owner") return true;
  return own === "admin" && current !== "owner" && wanted !== "owner";
}

/** Plain members use what the team has, and admins and owners manage it. */
export function manages(role: TeamRole): boolean {
  return role !== "member";
}

/** Whether a caller acts for a team that it does not manage. */
export function isPlainMember({ team }: Pick<Caller, "team">): boolean {
  return team !== null && !manages(team.role);
}

export interface MemberState {
  userId: string;
  role: TeamRole;
  disabledAt: Date | null;
}

/** A team without an active owner could not be managed, so the last one stays. `others`: the team without the member. */
export function isLastOwner({ role }: Pick<MemberState, "role">, others: readonly MemberState[]): boolean {
  return role === "owner" && !others.some((other) => other.role === "owner" && other.disabledAt === null);
}
