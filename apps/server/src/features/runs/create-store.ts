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
}

/** `trace` is the traceparent of the request, if it has one. */
export async function insertRun(
  tx: Sql,
  run: NewRun,
  keyMonth: string | null,
  trace: string | undefined,
): Promise<Run> {
  const [created] = await tx<Run[]>`
    insert into runs as r (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, parent_step, parent_position,
      input, max_cost_micros, timeout_ms, max_steps, approve, connectors, base_url, call_id, price_micros, due_micros,
      sale_name, key_month, trace, door, followed)
    values (${run.id}, ${run.agentId}, ${run.revisionId}, ${run.ownerId}, ${run.userId}, ${run.keyId},
      ${run.ancestors as string[]}::text[], ${run.parentStep}, ${run.parentPosition}, ${asJson(tx, run.input)},
      ${run.maxCost}, ${run.timeoutMs}, ${run.maxSteps}, ${run.approve as string[]}::text[],
      ${run.connectors as string[]}::text[], ${run.baseUrl}, ${run.callId}, ${run.price}, ${run.price},
      ${run.saleName}, ${keyMonth}::text::date, ${trace ?? null}, ${run.door}, ${run.isFollowed})
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

export interface Funds {
  /** Gross of `reserved`. */
  balance: Micros;
  reserved: Micros;
  /** Null where the key has no monthly limit. */
  keyBudget: Micros | null;
}

/** Locks the wallet and, for a key with a limit, its month. */
export async function lockFunds(tx: Transaction, userId: string, keyId: string, month: string): Promise<Funds> {
  const [wallet] = await tx<Omit<Funds, "keyBudget">[]>`
    select balance_micros as balance, reserved_micros as reserved from wallets where user_id = ${userId} for update`;
  const [key] = await tx<{ limit: Micros | null }[]>`
    select monthly_limit_micros as limit from api_keys where id = ${keyId}`;
  if (!wallet) throw new Error(`user ${userId} has no wallet`);
  if (key?.limit == null) return { ...wallet, keyBudget: null };
  await tx`insert into key_months (key_id, month) values (${keyId}, ${month}::text::date) on conflict do nothing`;
  const [used] = await tx<{ micros: Micros }[]>`
    select spent_micros + reserved_micros as micros from key_months
    where key_id = ${keyId} and month = ${month}::text::date for update`;
  return { ...wallet, keyBudget: key.limit - (used?.micros ?? 0) };
}

export async function reservePrice(
  tx: Transaction,
  { userId, keyId, month, price }: { userId: string; keyId: string; month: string | null; price: Micros },
): Promise<void> {
  await tx`update wallets set reserved_micros = reserved_micros + ${price} where user_id = ${userId}`;
  if (month === null) return;
  await tx`
    update key_months set reserved_micros = reserved_micros + ${price}
    where key_id = ${keyId} and month = ${month}::text::date`;
}
