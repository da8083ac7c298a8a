import { newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "./caller.ts";
import type { AccountsContext } from "./context.ts";
import { newKeyPair } from "./key-format.rules.ts";
import { mayManage } from "./key-reach.rules.ts";
import type { KeyRequest } from "./key-request.rules.ts";
import { findUser, insertKey, type Key } from "./store.ts";

/** A key with its text, which exists only in this answer. */
export interface NewKey {
  record: Key;
  key: string;
}

/** A key for the caller itself. */
export async function createKey(context: AccountsContext, caller: Caller, wanted: KeyRequest): Promise<NewKey> {
  if (!mayManage(caller, wanted)) throw fault("forbidden", "A restricted key cannot make a key that reaches further");
  return issueKey(context, caller.userId, wanted);
}

/** A key for another user, made by an admin. It reaches what that user reaches, so the admin's own key is no measure. */
export async function createKeyFor(context: AccountsContext, username: string, wanted: KeyRequest): Promise<NewKey> {
  const owner = await findUser(context.database.sql, username);
  if (!owner) throw fault("not_found", "User not found");
  return issueKey(context, owner.id, wanted);
}

async function issueKey({ database, clock }: AccountsContext, userId: string, wanted: KeyRequest): Promise<NewKey> {
  const pair = newKeyPair();
  const record = await insertKey(database.sql, {
    ...wanted,
    id: newId("key"),
    userId,
    public: pair.public,
    secretHash: pair.hash,
    createdAt: clock.now(),
  });
  return { record, key: pair.key };
}
