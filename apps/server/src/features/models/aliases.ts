import { aliasNamePattern, type PutAliasBody, readAgentName } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { Caller, Page } from "../accounts/index.ts";
import { record } from "../audit/index.ts";
import { forgetAlias } from "./alias-memory.ts";
import {
  type Alias,
  type AliasOwner,
  aliasKey,
  countLocked,
  deleteRow,
  findOwnAlias,
  selectAliases,
  selectVisible,
  upsertAlias,
} from "./alias-store.ts";
import type { ModelsContext } from "./context.ts";
import { callableAmong, getModel } from "./find-models.ts";

export interface Range {
  limit: number;
  offset: number;
}

export interface PutAlias {
  alias: Alias;
  created: boolean;
}

/** Of one user, and of those for all users. */
const maxAliases = 1000;

/** What a name stands for: an endpoint id or `agents/creator/slug`. The user's own alias wins. Cached. */
export async function resolveAlias(
  { aliases }: ModelsContext,
  { userId }: Pick<Caller, "userId">,
  name: string,
): Promise<string | undefined> {
  return aliasNamePattern.test(name) ? aliases.get(aliasKey(userId, name)) : undefined;
}

/** The same, or the name itself if it is not an alias. */
export async function targetOf(context: ModelsContext, user: Pick<Caller, "userId">, name: string): Promise<string> {
  return (await resolveAlias(context, user, name)) ?? name;
}

/** Aliases of the caller and of all users whose model the caller may call now. Aliases of agents are not checked. */
export async function listAliases(
  context: ModelsContext,
  caller: Pick<Caller, "userId" | "models">,
): Promise<Pick<Alias, "name" | "model">[]> {
  const visible = await selectVisible(context.database.sql, caller.userId);
  const callable = await callableAmong(context, caller, [...new Set(visible.map(({ model }) => model))]);
  return visible.filter(({ model }) => callable.has(model) || readAgentName(model) !== undefined);
}

/** The user's names for any of the models. */
export async function namesFor(
  { database }: ModelsContext,
  { userId }: Pick<Caller, "userId">,
  models: readonly string[],
): Promise<string[]> {
  const visible = await selectVisible(database.sql, userId);
  return visible.filter(({ model }) => models.includes(model)).map(({ name }) => name);
}

/** Sorted by name. */
export function listOwnAliases({ database }: ModelsContext, { userId }: Caller, range: Range): Promise<Page<Alias>> {
  return selectAliases(database.sql, userId, range);
}

/** For admins: the aliases for all users, sorted by name. */
export function listSharedAliases({ database }: ModelsContext, range: Range): Promise<Page<Alias>> {
  return selectAliases(database.sql, null, range);
}

export async function putAlias(
  context: ModelsContext,
  caller: Caller,
  name: string,
  { model }: PutAliasBody,
): Promise<PutAlias> {
  const agent = readAgentName(model);
  const isCallable = agent
    ? await context.agentTargets.mayRun(caller.userId, agent)
    : (await callableAmong(context, caller, [model])).has(model);
  const missing = agent
    ? `Agent ${model} does not exist, is not published, or you may not run it`
    : `Model ${model} does not exist, or you may not call it`;
  throwIfAny([...nameIssues(name), ...(isCallable ? [] : [targetIssue(missing, model)])]);
  return save(context, caller.userId, { name, model });
}

/** For admins: an alias for all users. Not all of them need to be able to call the model. */
export async function putSharedAlias(context: ModelsContext, name: string, { model }: PutAliasBody): Promise<PutAlias> {
  const agent = readAgentName(model);
  const exists = agent ? await context.agentTargets.exists(agent) : (await getModel(context, model)) !== undefined;
  const missing = `${agent ? "Agent" : "Model"} ${model} does not exist`;
  throwIfAny([...nameIssues(name), ...(exists ? [] : [targetIssue(missing, model)])]);
  return save(context, null, { name, model });
}

export function deleteAlias(context: ModelsContext, { userId }: Caller, name: string): Promise<void> {
  return remove(context, userId, name);
}

/** For admins. */
export function deleteSharedAlias(context: ModelsContext, name: string): Promise<void> {
  return remove(context, null, name);
}

function nameIssues(name: string): Issue[] {
  if (aliasNamePattern.test(name)) return [];
  const msg =
    "An alias has 1 to 63 characters: letters, digits, ., _, : and -. It begins with a letter or a digit and has no slash.";
  return [{ type: "value_error", loc: ["path", "name"], msg, input: name }];
}

function targetIssue(msg: string, input: string): Issue {
  return { type: "value_error", loc: ["body", "model"], msg, input };
}

async function save(
  { database, aliases }: ModelsContext,
  owner: AliasOwner,
  wanted: Pick<Alias, "name" | "model">,
): Promise<PutAlias> {
  const saved = await database.transaction(async (tx) => {
    const before = await countLocked(tx, owner);
    const former = await findOwnAlias(tx, owner, wanted.name);
    const put = await upsertAlias(tx, owner, wanted);
    if (put.created && before >= maxAliases) {
      const msg = `The limit of ${maxAliases.toLocaleString("en")} aliases is reached. Delete one first.`;
      throw fault("value_error", msg, { loc: ["path", "name"] });
    }
    await recordAlias(tx, "alias.put", owner, wanted.name, { before: former, after: wanted });
    return put;
  });
  forgetAlias(aliases, aliasKey(owner, wanted.name));
  return saved;
}

async function remove({ database, aliases }: ModelsContext, owner: AliasOwner, name: string): Promise<void> {
  // Other text never reaches the database.
  const isName = aliasNamePattern.test(name);
  const isDeleted = isName && (await database.transaction((tx) => removeRow(tx, owner, name)));
  if (!isDeleted) throw fault("not_found", "Alias not found");
  forgetAlias(aliases, aliasKey(owner, name));
}

async function removeRow(tx: Transaction, owner: AliasOwner, name: string): Promise<boolean> {
  const before = await deleteRow(tx, owner, name);
  if (before) await recordAlias(tx, "alias.delete", owner, name, { before });
  return before !== undefined;
}

type AliasTarget = Pick<Alias, "model">;

function recordAlias(
  tx: Transaction,
  action: "alias.put" | "alias.delete",
  owner: AliasOwner,
  name: string,
  { before, after }: { before?: AliasTarget | undefined; after?: AliasTarget },
): Promise<void> {
  return record(tx, {
    action,
    object: { id: name, name },
    ownerId: owner,
    before: before && { model: before.model },
    after: after && { model: after.model },
  });
}
