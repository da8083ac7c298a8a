import { newId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
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

async function issueKey(context: AccountsContext, userId: string, wanted: KeyRequest): Promise<NewKey> {
  await refuseUnknownModels(context, userId, wanted);
  const models = wanted.models && [...new Set(wanted.models)];
  const { database, clock } = context;
  return storeKey(database.sql, userId, { ...wanted, models, sessionEndsAt: null }, clock.now());
}

/** A new key that nothing is to be said against. */
export async function storeKey(
  sql: Sql,
  userId: string,
  wanted: KeyRequest & { sessionEndsAt: Date | null },
  createdAt: Date,
): Promise<NewKey> {
  const pair = newKeyPair();
  const stored = { public: pair.public, secretHash: pair.hash };
  const record = await insertKey(sql, { ...wanted, id: newId("key"), userId, ...stored, createdAt });
  return { record, key: pair.key };
}

/** A misspelt name would make a key that can call nothing. A model that its owner may not call is as good as none. */
async function refuseUnknownModels(
  { callableModels }: AccountsContext,
  userId: string,
  { models }: KeyRequest,
): Promise<void> {
  if (models === null || !callableModels) return;
  const known = await callableModels(userId, models);
  throwIfAny(
    models.flatMap((endpointId, at): Issue[] => {
      const msg = `There is no model ${endpointId} that the owner of the key may call`;
      return known.has(endpointId)
        ? []
        : [{ type: "value_error", loc: ["body", "models", at], msg, input: endpointId }];
    }),
  );
}
