import type { ChangeUserBody, CreateUserBody, PutPlanBody } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { createAuthentication } from "./authenticate.ts";
import { type Bootstrapped, bootstrap } from "./bootstrap.ts";
import type { AccountsContext, CallableModels, Caller, Page } from "./context.ts";
import type { KeyRequest } from "./key-request.rules.ts";
import { createKeyUse } from "./key-use.ts";
import { createKey, createKeyFor, listKeys, type NewKey, revokeKey, rotateKey } from "./keys.ts";
import { deletePlan, listPlans, type Plan, putPlan } from "./plans.ts";
import { endSession, openSession } from "./sessions.ts";
import {
  makeSignInLink,
  makeSignInLinkFor,
  type NewSignInLink,
  selectSignInLinks,
  useSignInLink,
} from "./sign-in-links.ts";
import {
  accountsChannel,
  type Key,
  type Range,
  type StoredPair,
  selectCallers,
  selectPairs,
  type User,
  writeKeyUse,
} from "./store.ts";
import { changeUser, createUser, listUsers } from "./users.ts";

/** The feature as the rest of the server sees it. Each use case is described in its own file. */
export interface Accounts {
  bootstrap(operatorKey: string | undefined): Promise<Bootstrapped>;
  authenticate(presented: string): Promise<Caller>;
  /**
   * Whose key it is, for work that goes on for it. Undefined once it works no longer: revoked, expired, or its user
   * disabled. Asked of the database each time, those that ask at the same time together.
   */
  callerOfKey(keyId: string): Promise<Caller | undefined>;
  createUser(wanted: CreateUserBody): Promise<User>;
  listUsers(range: Range): Promise<Page<User>>;
  changeUser(username: string, change: ChangeUserBody): Promise<User>;
  listPlans(range: Range): Promise<Page<Plan>>;
  putPlan(name: string, body: PutPlanBody): Promise<{ plan: Plan; created: boolean }>;
  deletePlan(name: string): Promise<void>;
  createKey(caller: Caller, wanted: KeyRequest): Promise<NewKey>;
  createKeyFor(username: string, wanted: KeyRequest): Promise<NewKey>;
  listKeys(caller: Caller, range: Range): Promise<Page<Key>>;
  revokeKey(caller: Caller, keyId: string): Promise<void>;
  rotateKey(caller: Caller, keyId: string, graceSeconds: number): Promise<NewKey>;
  makeSignInLink(caller: Caller): Promise<NewSignInLink>;
  makeSignInLinkFor(username: string): Promise<NewSignInLink>;
  /** Both answer what the session is presented by, as `asPresentedSession`. */
  useSignInLink(token: string): Promise<string>;
  openSession(caller: Caller): Promise<string>;
  endSession(caller: Caller, presented: string): Promise<void>;
  /** Tells at once of every user that was changed here, or as soon as it is announced where it was changed elsewhere. */
  onUserChanged(tell: (userId: string) => void): void;
  /** How many keys, working or not, this node remembers; bounded. */
  remembered(): number;
  /** Before the database closes. */
  close(): Promise<void>;
}

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
}): Promise<Accounts> {
  // One lookup is under way at a time and takes all that wait along, so that a flood of keys holds one connection.
  const lookups = createBatcher<readonly string[], readonly StoredPair[]>({
    maxItems: 500,
    blameItem: () => false,
    async run(items) {
      const pairs = await selectPairs(database.sql, [...new Set(items.flat())]);
      const byPublic = Map.groupBy(pairs, (pair) => pair.public);
      return items.map((publicParts) => publicParts.flatMap((part) => byPublic.get(part) ?? []));
    },
  });
  const callers = createBatcher<string, Caller | undefined>({
    maxItems: 500,
    blameItem: () => false,
    async run(keyIds) {
      const found = await selectCallers(database.sql, [...new Set(keyIds)], clock.now());
      const byKey = new Map(found.map((caller) => [caller.keyId, caller]));
      return keyIds.map((keyId) => byKey.get(keyId));
    },
  });
  const links = createBatcher<Buffer, boolean>({
    maxItems: 500,
    blameItem: () => false,
    async run(hashes) {
      const known = await selectSignInLinks(database.sql, hashes);
      return hashes.map((hash) => known.has(hash.toString("hex")));
    },
  });
  const keyUse = createKeyUse({
    write: (keyIds, now, unlessSince) => writeKeyUse(database.sql, keyIds, now, unlessSince),
    clock,
    log,
    delayMillis: 1000,
  });
  const authentication = createAuthentication({ findPairs: lookups.add, noteUse: keyUse.note, clock, log });
  const told: ((userId: string) => void)[] = [];
  const forgetUser = (userId: string) => {
    authentication.forgetUser(userId);
    for (const tell of told) tell(userId);
  };
  const listening = await database.listen(accountsChannel, forgetUser, authentication.forgetAll);
  const context: AccountsContext = { database, clock, log, callableModels, forgetUser };

  return {
    bootstrap: (operatorKey) => bootstrap(context, operatorKey),
    authenticate: authentication.authenticate,
    callerOfKey: callers.add,
    createUser: (wanted) => createUser(context, wanted),
    listUsers: (range) => listUsers(context, range),
    changeUser: (username, change) => changeUser(context, username, change),
    listPlans: (range) => listPlans(context, range),
    putPlan: (name, body) => putPlan(context, name, body),
    deletePlan: (name) => deletePlan(context, name),
    createKey: (caller, wanted) => createKey(context, caller, wanted),
    createKeyFor: (username, wanted) => createKeyFor(context, username, wanted),
    listKeys: (caller, range) => listKeys(context, caller, range),
    revokeKey: (caller, keyId) => revokeKey(context, caller, keyId),
    rotateKey: (caller, keyId, graceSeconds) => rotateKey(context, caller, keyId, graceSeconds),
    makeSignInLink: (caller) => makeSignInLink(context, caller),
    makeSignInLinkFor: (username) => makeSignInLinkFor(context, username),
    useSignInLink: (token) => useSignInLink(context, links.add, token),
    openSession: (caller) => openSession(context, caller),
    endSession: (caller, presented) => endSession(context, caller, presented),
    onUserChanged: (tell) => void told.push(tell),
    remembered: authentication.remembered,
    async close() {
      await listening.stop();
      await keyUse.flush();
    },
  };
}
