import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { withContext } from "../../kernel/with-context.ts";
import { createAuthentication } from "./authenticate.ts";
import { bootstrap } from "./bootstrap.ts";
import { changeKey, changeKeyOf } from "./change-key.ts";
import type { AccountsContext, Authenticate, CallableModels, Caller } from "./context.ts";
import { deleteAccount, deleteOwnAccount } from "./deletion/delete-account.ts";
import { identitiesOf, membersOf, ownerNamed } from "./export-store.ts";
import { createKeyUse } from "./key-use.ts";
import { writeKeyUse } from "./key-use-store.ts";
import { createKey, createKeyFor, listKeys, listKeysOf, revokeKey, revokeKeyOf, rotateKey } from "./keys.ts";
import { beginOidcSignIn, finishOidcSignIn, oidcSignOutUrl, unlinkIdentities } from "./oidc/sign-in-with-oidc.ts";
import { type StoredPair, selectCallers, selectPairs } from "./pair-store.ts";
import { createPasswordHasher } from "./passwords/password-hasher.ts";
import { changePassword, signInWithPassword } from "./passwords/passwords.ts";
import { makePasswordReset, usePasswordReset } from "./passwords/resets.ts";
import { deletePlan, listPlans, putPlan } from "./plans.ts";
import {
  listSessions,
  listSessionsOf,
  revokeOtherSessions,
  revokeSession,
  revokeSessionOf,
  revokeSessionsOf,
} from "./session-list.ts";
import { endSession, openSession } from "./sessions.ts";
import { makeSignInLink, makeSignInLinkFor, selectSignInLinks, useSignInLink } from "./sign-in-links.ts";
import { type SignInOptions, usualSignIn } from "./sign-in-options.ts";
import { readSignInWays } from "./sign-in-ways.ts";
import { accountsChannel } from "./store.ts";
import { createActing } from "./teams/acting.ts";
import { type Asked, type Seat, selectSeats } from "./teams/caller-store.ts";
import { personOf } from "./teams/find-team.ts";
import { addMember, changeMember, listMembers, readMember, removeMember } from "./teams/members.ts";
import { closeTeam, createTeam, listTeams, readTeam } from "./teams/teams.ts";
import { changeUser, createUser, listUsers, readUser } from "./users.ts";

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

export async function openAccounts({
  database,
  clock,
  log,
  callableModels,
  teamCreation = "admin",
  signIn = usualSignIn,
}: {
  database: Database;
  clock: Clock;
  log: Log;
  callableModels?: CallableModels;
  teamCreation?: "admin" | "everyone";
  signIn?: SignInOptions;
}) {
  // One lookup runs at a time and serves all that wait, so that a flood of keys uses one connection.
  const batched = <Item, Result>(run: (items: readonly Item[]) => Promise<Result[]>) =>
    createBatcher<Item, Result>({ maxItems: 500, blameItem: () => false, run });
  const lookups = batched<readonly string[], readonly StoredPair[]>(async (items) => {
    const pairs = await selectPairs(database.sql, [...new Set(items.flat())]);
    const byPublic = Map.groupBy(pairs, (pair) => pair.public);
    return items.map((publicParts) => publicParts.flatMap((part) => byPublic.get(part) ?? []));
  });
  const callers = batched<string, Caller | undefined>(async (keyIds) => {
    const found = await selectCallers(database.sql, [...new Set(keyIds)], clock.now());
    const byKey = new Map(found.map((caller) => [caller.keyId, caller]));
    return keyIds.map((keyId) => byKey.get(keyId));
  });
  const seats = batched<Asked, Seat | null>(async (asked) => {
    const found = await selectSeats(database.sql, asked);
    const addressOf = (personId: string, team: string) => `${personId} ${team}`;
    const byAddress = new Map(found.map((seat) => [addressOf(seat.personId, seat.username), seat]));
    return asked.map(({ personId, team }) => byAddress.get(addressOf(personId, team)) ?? null);
  });
  const links = batched<Buffer, boolean>(async (hashes) => {
    const known = await selectSignInLinks(database.sql, hashes);
    return hashes.map((hash) => known.has(hash.toString("hex")));
  });
  const keyUse = createKeyUse({
    write: (uses, now, unlessSince) => writeKeyUse(database.sql, uses, now, unlessSince),
    clock,
    log,
    delayMillis: 1000,
  });
  const authentication = createAuthentication({ findPairs: lookups.add, noteUse: keyUse.note, clock, log });
  const acting = createActing({ findSeat: seats.add, noteUse: keyUse.note, log });
  const listeners: ((userId: string) => void)[] = [];
  const forgetUser = (userId: string) => {
    authentication.forgetUser(userId);
    acting.forgetUser(userId);
    for (const notify of listeners) notify(userId);
  };
  const listening = await database.listen(accountsChannel, forgetUser, () => {
    authentication.forgetAll();
    acting.forgetAll();
  });
  const context: AccountsContext = {
    database,
    clock,
    log,
    callableModels,
    teamCreation,
    signIn,
    hasher: createPasswordHasher(),
    forgetUser,
    isKnownLink: links.add,
  };

  const authenticate: Authenticate = async (presented, team, resource) => {
    const caller = await authentication.authenticate(presented, resource);
    return team === undefined ? caller : acting.actFor(caller, team);
  };

  return {
    ...withContext(context, {
      addMember,
      beginOidcSignIn,
      bootstrap,
      changeKey,
      changeKeyOf,
      changeMember,
      changePassword,
      closeTeam,
      createTeam,
      listMembers,
      listTeams,
      readMember,
      readTeam,
      removeMember,
      changeUser,
      createKey,
      createKeyFor,
      makeSignInLink,
      makeSignInLinkFor,
      createUser,
      deleteAccount,
      deleteOwnAccount,
      deletePlan,
      endSession,
      finishOidcSignIn,
      identitiesOf,
      listKeys,
      listKeysOf,
      listPlans,
      listSessions,
      listSessionsOf,
      listUsers,
      makePasswordReset,
      membersOf,
      oidcSignOutUrl,
      openSession,
      ownerNamed,
      putPlan,
      readSignInWays,
      readUser,
      revokeKey,
      revokeKeyOf,
      revokeOtherSessions,
      revokeSession,
      revokeSessionOf,
      revokeSessionsOf,
      rotateKey,
      signInWithPassword,
      unlinkIdentities,
      usePasswordReset,
      useSignInLink,
    }),
    authenticate,
    personOf,
    forgetUser,
    /** The caller of a key, for work in the background. Undefined once the key stops working. Reads the database. */
    callerOfKey: callers.add,
    /** Notifies at once of a user changed on this node, and soon of a user changed on another. */
    onUserChanged: (notify: (userId: string) => void) => void listeners.push(notify),
    /** Number of keys, valid or not, in this node's cache; bounded. */
    remembered: authentication.remembered,
    /** Must be called before the database closes. */
    async close(): Promise<void> {
      await listening.stop();
      await keyUse.flush();
    },
  };
}
