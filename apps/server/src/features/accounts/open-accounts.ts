import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { withContext } from "../../kernel/with-context.ts";
import { createAuthentication } from "./authenticate.ts";
import { bootstrap } from "./bootstrap.ts";
import type { AccountsContext, CallableModels, Caller } from "./context.ts";
import { createKeyUse } from "./key-use.ts";
import { createKey, createKeyFor, listKeys, revokeKey, rotateKey } from "./keys.ts";
import { deletePlan, listPlans, putPlan } from "./plans.ts";
import { endSession, openSession } from "./sessions.ts";
import { makeSignInLink, makeSignInLinkFor, selectSignInLinks, useSignInLink } from "./sign-in-links.ts";
import { accountsChannel, type StoredPair, selectCallers, selectPairs, writeKeyUse } from "./store.ts";
import { changeUser, createUser, listUsers } from "./users.ts";

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

export async function openAccounts({
  database,
  clock,
  log,
  callableModels,
}: {
  database: Database;
  clock: Clock;
  log: Log;
  callableModels?: CallableModels;
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
  const links = batched<Buffer, boolean>(async (hashes) => {
    const known = await selectSignInLinks(database.sql, hashes);
    return hashes.map((hash) => known.has(hash.toString("hex")));
  });
  const keyUse = createKeyUse({
    write: (keyIds, now, unlessSince) => writeKeyUse(database.sql, keyIds, now, unlessSince),
    clock,
    log,
    delayMillis: 1000,
  });
  const authentication = createAuthentication({ findPairs: lookups.add, noteUse: keyUse.note, clock, log });
  const listeners: ((userId: string) => void)[] = [];
  const forgetUser = (userId: string) => {
    authentication.forgetUser(userId);
    for (const notify of listeners) notify(userId);
  };
  const listening = await database.listen(accountsChannel, forgetUser, authentication.forgetAll);
  const context: AccountsContext = { database, clock, log, callableModels, forgetUser, isKnownLink: links.add };

  return {
    ...withContext(context, {
      bootstrap,
      changeUser,
      createKey,
      createKeyFor,
      makeSignInLink,
      makeSignInLinkFor,
      createUser,
      deletePlan,
      endSession,
      listKeys,
      listPlans,
      listUsers,
      openSession,
      putPlan,
      revokeKey,
      rotateKey,
      useSignInLink,
    }),
    authenticate: authentication.authenticate,
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
