import type { Door } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Run } from "./run.ts";
import { runColumns } from "./store.ts";

// Queries that create runs: the row, its price, its ancestors.

/** As text: the driver would send json through jsonb, which loses the order of fields. */
const asJson = (sql: Sql, value: unknown) => sql`${JSON.stringify(value)}::text::json`;

export interface NewRun {
  id: string;
  agentId: string;
  revisionId: string;
  ownerId: string;
  userId: string;
  keyId: string;
  ancestors: readonly string[];
  parentStep: number | null;
  parentPosition: number | null;
  input: unknown;
  maxCost: Micros | null;
  timeoutMs: number;
  maxSteps: number;
  approve: readonly string[];
  connectors: readonly string[];
  baseUrl: string;
  door: Door | null;
  isFollowed: boolean;
  callId: string;
  price: Micros;
  saleName: string | null;
  /** See `Run`. */
  sourceId: string | null;
  sequence: string | null;
  threadId: string | null;
}

/** `trace` is the traceparent of the request, if it has one. */
export async function insertRun(tx: Sql, run: NewRun, counted: Counted, trace: string | undefined): Promise<Run> {
  const [created] = await tx<Run[]>`
    insert into runs as r (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, parent_step, parent_position,
      input, max_cost_micros, timeout_ms, max_steps, approve, connectors, base_url, call_id, price_micros, due_micros,
      sale_name, key_month, key_day, parent_key_id, parent_month, parent_day, trace, door, followed, source_id, sequence,
      thread_id)
    values (${run.id}, ${run.agentId}, ${run.revisionId}, ${run.ownerId}, ${run.userId}, ${run.keyId},
      ${run.ancestors as string[]}::text[], ${run.parentStep}, ${run.parentPosition}, ${asJson(tx, run.input)},
      ${run.maxCost}, ${run.timeoutMs}, ${run.maxSteps}, ${run.approve as string[]}::text[],
      ${run.connectors as string[]}::text[], ${run.baseUrl}, ${run.callId}, ${run.price}, ${run.price},
      ${run.saleName}, ${counted.keyMonth}::text::date, ${counted.keyDay}::text::date,
      ${counted.parentKeyId}, ${counted.parentMonth}::text::date, ${counted.parentDay}::text::date, ${trace ?? null}, ${run.door}, ${run.isFollowed},
      ${run.sourceId}, ${run.sequence}, ${run.threadId})
    returning ${runColumns(tx)}`;
  return created as Run;
}

export interface ChainState {
  isLive: boolean;
  isCancelled: boolean;
  agentIds: readonly string[];
  /** What the run may still cost; null: no limit. */
  budget: Micros | null;
  /** `budget` without the holds of calls under way. */
  freeBudget: Micros | null;
}

/** Locks a run and its ancestors. Returns whether the run may start another one, and its budget. */
export async function lockChain(
  tx: Transaction,
  { id, ancestors, claim }: Pick<Run, "id" | "ancestors" | "claim">,
): Promise<ChainState> {
  const chain = [...ancestors, id];
  await tx`select 1 from runs where id = any (${chain}) order by cardinality(ancestors), id for update`;
  const [row] = await tx<ChainState[]>`
    select bool_and(id <> ${id} or (claim = ${claim} and status = 'running' and not cancel_requested)) as "isLive",
      bool_or(cancel_requested) as "isCancelled", array_agg(agent_id) as "agentIds",
      min(max_cost_micros - cost_micros - due_micros) as budget,
      min(max_cost_micros - cost_micros - due_micros - held_micros) as "freeBudget"
    from runs where id = any (${chain})`;
  return row ?? { isLive: false, isCancelled: false, agentIds: [], budget: null, freeBudget: null };
}

/** Counted up to the bound. The root must be locked. */
export async function countLiveDescendants(tx: Transaction, rootId: string, bound: number): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    select count(*)::int as n from (
      select from runs
      where ancestors[1] = ${rootId} and cardinality(ancestors) > 0 and status in ('pending', 'running') limit ${bound}
    ) live`;
  return row?.n ?? 0;
}

/** Adds the price of a child to its ancestors. */
export async function addDue(tx: Transaction, ids: readonly string[], price: Micros): Promise<void> {
  if (price === 0) return;
  await tx`update runs set due_micros = due_micros + ${price} where id = any (${ids as string[]})`;
}

/** The periods in which a key and its parent count a price, as their first days; null without a limit. */
export interface Counted {
  keyMonth: string | null;
  keyDay: string | null;
  parentKeyId: string | null;
  parentMonth: string | null;
  parentDay: string | null;
}

export const countedNowhere: Counted = {
  ...{ keyMonth: null, keyDay: null, parentKeyId: null, parentMonth: null, parentDay: null },
};

/** What a key or its parent may still spend; null without a limit. */
export interface KeyBudget {
  isParent: boolean;
  keyId: string;
  monthLeft: Micros | null;
  dayLeft: Micros | null;
}

export interface Funds {
  /** Gross of `reserved`. */
  balance: Micros;
  reserved: Micros;
  budgets: readonly KeyBudget[];
}

/** Locks the wallet, and the counters of the key and its parent where they have limits. `today`: the day of UTC. */
export async function lockFunds(tx: Transaction, userId: string, keyId: string, today: string): Promise<Funds> {
  const [wallet] = await tx<Omit<Funds, "budgets">[]>`
    select balance_micros as balance, reserved_micros as reserved from wallets where user_id = ${userId} for update`;
  if (!wallet) throw new Error(`user ${userId} has no wallet`);
  const budgets = await tx<KeyBudget[]>`
    select id as "keyId", id <> ${keyId} as "isParent", per_month - month_used as "monthLeft", per_day - day_used as "dayLeft"
    from lock_budgets(${keyId}, ${today}::text::date)`;
  return { ...wallet, budgets };
}

export async function reservePrice(
  tx: Transaction,
  { userId, keyId, price }: Pick<NewRun, "userId" | "keyId" | "price">,
  { keyMonth, keyDay, parentKeyId, parentMonth, parentDay }: Counted,
): Promise<void> {
  await tx`update wallets set reserved_micros = reserved_micros + ${price} where user_id = ${userId}`;
  if (keyMonth !== null || parentMonth !== null)
    await tx`
      update key_months set reserved_micros = reserved_micros + ${price}
      where (key_id, month) in ((${keyId}, ${keyMonth}::text::date), (${parentKeyId}, ${parentMonth}::text::date))`;
  if (keyDay !== null || parentDay !== null)
    await tx`
      update key_days set reserved_micros = reserved_micros + ${price}
      where (key_id, day) in ((${keyId}, ${keyDay}::text::date), (${parentKeyId}, ${parentDay}::text::date))`;
}
