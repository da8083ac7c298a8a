import {
  changeTriggerBody,
  createTriggerBody,
  isId,
  newId,
  type ReadTriggerChange,
  type TriggerVerification,
} from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import { type Caller, type Page, refuseExpiring, scopeOf } from "../accounts/index.ts";
import { priceFor } from "../agents/index.ts";
import { changedNames, record } from "../audit/index.ts";
import type { TriggersContext } from "./context.ts";
import {
  deleteTrigger,
  findOwn,
  insertTrigger,
  listDeliveries,
  listOwn,
  lockOwn,
  replaceSecret,
  updateTrigger,
} from "./store.ts";
import {
  type ListedTrigger,
  newSecret,
  type Trigger,
  type TriggerDelivery,
  triggerNotFound,
  verificationContext,
} from "./trigger.ts";

const mostPerUser = 1_000;

export interface TriggerWithSecret {
  trigger: ListedTrigger;
  secret: string;
}

export async function createTrigger(
  context: TriggersContext,
  caller: Caller,
  agentId: string,
  body: unknown,
): Promise<TriggerWithSecret> {
  throwIfAny(storableIssues(body ?? {}).issues);
  const wanted = parseOrThrow(createTriggerBody, body ?? {}, ["body"]);
  refuseExpiring(caller);
  // The agent may be published later; the caller must be able to run it.
  const seen = await context.agents.readAgent(caller, agentId);
  throwIfAny(templateIssues(context, wanted));
  const id = newId("trigger", context.clock.now().getTime());
  const { secret, secretHash } = newSecret();
  const now = context.clock.now();
  const trigger: Trigger = {
    id,
    ownerId: caller.userId,
    agentId: seen.agent.id,
    keyId: caller.keyId,
    secretHash,
    name: wanted.name,
    input: wanted.input,
    ...sealed(context, { id, ownerId: caller.userId }, wanted.verification),
    deliveryId: wanted.delivery_id,
    enabled: wanted.enabled,
    overlap: wanted.overlap,
    maxCost: wanted.max_cost,
    approve: wanted.approve,
    connectors: wanted.connectors,
    threadId: wanted.thread_id,
    expectedPrice: wanted.expected_price === undefined ? priceFor(caller, seen) : wanted.expected_price,
    pausedReason: null,
    createdAt: now,
    updatedAt: now,
  };
  const isCreated = await context.database.transaction(async (tx) => {
    if (!(await insertTrigger(tx, trigger, mostPerUser))) return false;
    await recordTrigger(tx, "trigger.create", { after: trigger });
    return true;
  });
  if (!isCreated) throw fault("conflict", `You have ${mostPerUser.toLocaleString("en")} triggers. Delete one first.`);
  return { trigger: await readTrigger(context, caller, id), secret };
}

export async function readTrigger(
  { database }: Pick<TriggersContext, "database">,
  caller: Caller,
  id: string,
): Promise<ListedTrigger> {
  const found = isId("trigger", id) ? await findOwn(database.sql, scopeOf(caller), id) : undefined;
  if (!found) throw triggerNotFound();
  return found;
}

export interface ListTriggersQuery {
  agentId?: string | undefined;
  limit: number;
  offset: number;
}

export async function listTriggers(
  { database }: TriggersContext,
  caller: Caller,
  { agentId, ...range }: ListTriggersQuery,
): Promise<Page<ListedTrigger>> {
  return listOwn(database.sql, scopeOf(caller), { agentId, ...range });
}

export async function listTriggersOfAgent(
  context: TriggersContext,
  caller: Caller,
  agentId: string,
  range: { limit: number; offset: number },
): Promise<Page<ListedTrigger>> {
  const page = await listTriggers(context, caller, { agentId, ...range });
  // Without triggers, the agent must be visible to the caller.
  if (page.total === 0) await context.agents.readAgent(caller, agentId);
  return page;
}

/** A request that enables the trigger makes later runs use its key. */
export async function changeTrigger(
  context: TriggersContext,
  caller: Caller,
  id: string,
  body: unknown,
): Promise<ListedTrigger> {
  throwIfAny(storableIssues(body ?? {}).issues);
  const change = parseOrThrow(changeTriggerBody, body ?? {}, ["body"]);
  throwIfAny(templateIssues(context, change));
  if (change.enabled === true) refuseExpiring(caller);
  await context.database.transaction(async (tx) => {
    const before = await lockOwn(tx, scopeOf(caller), id);
    if (!before) throw triggerNotFound();
    const after = changed(context, caller, before, change);
    await updateTrigger(tx, after);
    await recordTrigger(tx, "trigger.update", { before, after });
  });
  return readTrigger(context, caller, id);
}

function changed(
  context: TriggersContext,
  { keyId }: Caller,
  before: Trigger,
  { verification, ...change }: ReadTriggerChange,
): Trigger {
  return {
    ...before,
    keyId: change.enabled === true ? keyId : before.keyId,
    ...(verification !== undefined && sealed(context, before, verification)),
    name: given(change.name, before.name),
    input: given(change.input, before.input),
    deliveryId: given(change.delivery_id, before.deliveryId),
    enabled: given(change.enabled, before.enabled),
    overlap: given(change.overlap, before.overlap),
    maxCost: given(change.max_cost, before.maxCost),
    approve: given(change.approve, before.approve),
    connectors: given(change.connectors, before.connectors),
    threadId: given(change.thread_id, before.threadId),
    expectedPrice: given(change.expected_price, before.expectedPrice),
    pausedReason: change.enabled === true ? null : before.pausedReason,
  };
}

/** Null is a value, undefined is not. */
function given<T>(wanted: T | undefined, before: T): T {
  return wanted === undefined ? before : wanted;
}

export async function removeTrigger({ database }: TriggersContext, caller: Caller, id: string): Promise<void> {
  if (!isId("trigger", id)) throw triggerNotFound();
  const scope = scopeOf(caller);
  await database.transaction(async (tx) => {
    const before = await findOwn(tx, scope, id);
    if (!before || !(await deleteTrigger(tx, scope, id))) throw triggerNotFound();
    await recordTrigger(tx, "trigger.delete", { before });
  });
}

/** The new address runs with the key of this request: a key with a limit must not get one without. */
export async function rotateTrigger(context: TriggersContext, caller: Caller, id: string): Promise<TriggerWithSecret> {
  const { secret, secretHash } = newSecret();
  const wanted = { id, ownerId: caller.userId, keyId: caller.keyId, secretHash };
  if (!isId("trigger", id)) throw triggerNotFound();
  refuseExpiring(caller);
  await context.database.transaction(async (tx) => {
    const before = await lockOwn(tx, scopeOf(caller), id);
    if (!before || !(await replaceSecret(tx, wanted))) throw triggerNotFound();
    await recordTrigger(tx, "trigger.rotate", { before, after: before });
  });
  return { trigger: await readTrigger(context, caller, id), secret };
}

function recordTrigger(
  tx: Transaction,
  action: "trigger.create" | "trigger.update" | "trigger.rotate" | "trigger.delete",
  { before, after }: { before?: Trigger; after?: Trigger },
): Promise<void> {
  const trigger = after ?? before;
  if (!trigger) throw new Error("a record of no trigger");
  const changed = before && after ? changedNames(settingsOf(before), settingsOf(after)) : undefined;
  return record(tx, {
    action,
    object: { id: trigger.id, name: trigger.name },
    ownerId: trigger.ownerId,
    before: before && fieldsOf(before),
    after: after && { ...fieldsOf(after), changed },
  });
}

function settingsOf({
  updatedAt: _at,
  createdAt: _created,
  verificationSecret,
  secretHash: _hash,
  ...trigger
}: Trigger) {
  return { ...trigger, verificationSecret: verificationSecret && Buffer.from(verificationSecret).toString("base64") };
}

function fieldsOf({ name, agentId, enabled, overlap, maxCost, approve, connectors }: Trigger) {
  return { name, agent_id: agentId, enabled, overlap, max_cost: maxCost, approve, connectors };
}

export async function readDeliveries(
  context: TriggersContext,
  caller: Caller,
  id: string,
  range: { limit: number; offset: number },
): Promise<Page<TriggerDelivery>> {
  const { id: own } = await readTrigger(context, caller, id);
  return listDeliveries(context.database.sql, own, range);
}

function sealed(
  { vault }: TriggersContext,
  { id, ownerId }: Pick<Trigger, "id" | "ownerId">,
  verification: TriggerVerification | null,
): Pick<Trigger, "verification" | "verificationSecret"> {
  if (verification === null) return { verification: null, verificationSecret: null };
  const { secret, ...shown } = verification;
  return { verification: shown, verificationSecret: vault.seal(secret, verificationContext(ownerId, id)) };
}

const mostTexts = 500;

/** Faults of the templates, each with its place. */
function templateIssues(
  { templates }: TriggersContext,
  { input, thread_id }: { input?: unknown; thread_id?: string | null | undefined },
): Issue[] {
  const texts = [...textsIn(input, ["body", "input"]), ...textsIn(thread_id, ["body", "thread_id"])];
  if (texts.length > mostTexts) {
    const msg = `At most ${mostTexts} texts`;
    return [{ type: "sequence_too_long", loc: ["body", "input"], msg, ctx: { max_length: mostTexts } }];
  }
  return texts.flatMap(({ text, loc }) =>
    templates.check(text).faults.map((msg): Issue => ({ type: "value_error", loc, msg })),
  );
}

function* textsIn(value: unknown, loc: Issue["loc"]): Generator<{ text: string; loc: Issue["loc"] }> {
  if (typeof value === "string") yield { text: value, loc };
  else if (typeof value === "object" && value !== null) {
    for (const [name, entry] of Object.entries(value))
      yield* textsIn(entry, [...loc, Array.isArray(value) ? Number(name) : name]);
  }
}
