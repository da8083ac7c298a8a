import { fault } from "../../kernel/errors.ts";
import type { AccountsContext, Caller, Page } from "./context.ts";
import { findUser, type Range } from "./store.ts";
import type { SeenMember } from "./teams/members.ts";
import { selectMembers } from "./teams/team-store.ts";

/** The owner of an account with all its rights and without a key, also if it is disabled. */
export async function ownerNamed({ database }: AccountsContext, username: string): Promise<Caller> {
  const user = await findUser(database.sql, username);
  if (!user) throw fault("not_found", "User not found");
  const { id: userId, role, plan, kind } = user;
  const member = { userId, username };
  return Object.freeze<Caller>({
    userId,
    username,
    role,
    plan,
    keyId: "",
    keyPublic: "",
    keyName: "",
    graceEndsAt: null,
    models: null,
    expiresAt: null,
    monthlyLimitMicros: null,
    keepsInputs: true,
    sessionEndsAt: null,
    team: kind === "team" ? { role: "owner", member, seatId: "" } : null,
  });
}

/** With everything about them, also of a closed team. */
export async function membersOf(
  { database }: AccountsContext,
  { userId }: Caller,
  range: Range,
): Promise<Page<SeenMember>> {
  const [counted] = await database.sql<{ total: number }[]>`
    select count(*)::int as total from team_members where team_id = ${userId}`;
  const members = await selectMembers(database.sql, userId, range);
  return { entries: members.map((member) => ({ ...member, isHidden: false })), total: counted?.total ?? 0 };
}

export interface LinkedIdentity {
  issuer: string;
  subject: string;
  createdAt: Date;
}

/** Persons of OpenID providers that sign in as the user: one of each provider. */
export function identitiesOf({ database: { sql } }: AccountsContext, { userId }: Caller): Promise<LinkedIdentity[]> {
  return sql<LinkedIdentity[]>`
    select issuer, subject, created_at as "createdAt" from oidc_identities where user_id = ${userId} order by issuer`;
}
