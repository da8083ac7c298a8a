import { fault } from "../../../kernel/errors.ts";
import { record } from "../../audit/index.ts";
import { adminName } from "../bootstrap.ts";
import type { AccountsContext, Caller } from "../context.ts";
import { announceChange, isLastAdmin, lockUserAndAdmins, type User } from "../store.ts";
import { leaveTeams, recordLeft } from "../teams/leave-teams.ts";
import { deleteMembers } from "../teams/team-store.ts";
import { endAccess, insertDeletion } from "./deletion-store.ts";

export interface AccountDeletion {
  username: string;
  requestedAt: Date;
}

/** The name in the body shows that the person means it. A key that expires cannot even revoke another one. */
export async function deleteOwnAccount(
  context: AccountsContext,
  { username, expiresAt }: Caller,
  confirmed: string,
): Promise<AccountDeletion> {
  if (expiresAt !== null) {
    throw fault("forbidden", "A key that expires cannot delete the account. Use a key without limits.");
  }
  if (confirmed !== username) {
    throw fault("value_error", `Type your username, ${username}, to delete your account.`, {
      loc: ["body", "username"],
      input: confirmed,
    });
  }
  return deleteAccount(context, username);
}

/**
 * Ends all access at once. What the account has is deleted in the background (features/account-deletion). A repeat returns
 * the same.
 */
export async function deleteAccount(context: AccountsContext, username: string): Promise<AccountDeletion> {
  const { database, clock, forgetUser } = context;
  const { deletion, changed } = await database.transaction(async (tx) => {
    const locked = await lockUserAndAdmins(tx, username);
    const user = locked.find((candidate) => candidate.username === username);
    if (!user) throw fault("not_found", "User not found");
    if (user.deletionRequestedAt) return { deletion: { username, requestedAt: user.deletionRequestedAt }, changed: [] };
    refuseNeeded(user, locked);
    const now = clock.now();
    const isTeam = user.kind === "team";
    const members = isTeam ? await deleteMembers(tx, user.id) : [];
    const left = isTeam ? [] : await leaveTeams(tx, user, now);
    await endAccess(tx, user.id, now);
    const requestedAt = await insertDeletion(tx, user.id);
    const changed = [user.id, ...members, ...left.map(({ teamId }) => teamId)];
    await announceChange(tx, ...changed);
    await recordLeft(tx, left);
    const { role, plan, disabledAt } = user;
    const before = { role, plan, disabled: disabledAt !== null, ...(isTeam && { members: members.length }) };
    await record(tx, { action: "user.delete", object: { id: user.id, name: username }, ownerId: user.id, before });
    return { deletion: { username, requestedAt }, changed };
  });
  for (const id of changed) forgetUser(id);
  return deletion;
}

function refuseNeeded(user: User, locked: readonly User[]): void {
  if (user.username === adminName) {
    const msg = `The user ${adminName} belongs to the operator, and each start would need it again. Disable it instead.`;
    throw fault("conflict", msg);
  }
  if (user.role === "admin" && user.disabledAt === null && isLastAdmin(locked, user.id)) {
    throw fault("conflict", "The last active admin cannot be deleted. Create another admin first.");
  }
}
