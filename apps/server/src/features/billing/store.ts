import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { KeyMonthChange, WalletChange } from "./reserve-funds.ts";

export interface WalletRow {
  userId: string;
  balance: Micros;
  reserved: Micros;
  running: number;
  hits: number[];
  requestsPerMinute: number | null;
  parallel: number | null;
}

export async function lockWallets(tx: Transaction, userIds: readonly string[]): Promise<WalletRow[]> {
  return tx<WalletRow[]>`
    select w.user_id as "userId", w.balance_micros as balance, w.reserved_micros as reserved, w.running, w.hits,
      p.requests_per_minute as "requestsPerMinute", p.parallel
    from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan
    where w.user_id = any(${userIds as string[]}::text[])
    order by w.user_id for update of w`;
}

export async function lockKeyMonths(
  tx: Transaction,
  keyIds: readonly string[],
  month: string,
): Promise<{ keyId: string; limit: Micros; used: Micros }[]> {
  await tx`
    insert into key_months (key_id, month)
    select id, ${month}::date from api_keys where id = any(${keyIds as string[]}::text[]) order by id
    on conflict do nothing`;
  return tx<{ keyId: string; limit: Micros; used: Micros }[]>`
    select m.key_id as "keyId", k.monthly_limit_micros as limit, m.spent_micros + m.reserved_micros as used
    from key_months m join api_keys k on k.id = m.key_id
    where m.key_id = any(${keyIds as string[]}::text[]) and m.month = ${month}::date
      and k.monthly_limit_micros is not null
    order by m.key_id for update of m`;
}

export async function addReservations(
  tx: Transaction,
  month: string,
  wallets: readonly WalletChange[],
  keys: readonly KeyMonthChange[],
): Promise<void> {
  const changes = [
    tx`
      update wallets w set running = w.running + g.running, reserved_micros = w.reserved_micros + g.reserved,
        hits = coalesce(g.hits::bigint[], w.hits)
      from unnest(
        ${wallets.map((one) => one.userId)}::text[], ${wallets.map((one) => one.running)}::int[],
        ${wallets.map((one) => one.reserved)}::bigint[],
        ${wallets.map((one) => (one.hits ? `{${one.hits.join(",")}}` : null))}::text[]
      ) as g (user_id, running, reserved, hits)
      where w.user_id = g.user_id`,
  ];
  if (keys.length > 0) {
    changes.push(tx`
      update key_months m set reserved_micros = m.reserved_micros + g.reserved
      from unnest(${keys.map((one) => one.keyId)}::text[], ${keys.map((one) => one.reserved)}::bigint[])
        as g (key_id, reserved)
      where m.key_id = g.key_id and m.month = ${month}::date`);
  }
  await Promise.all(changes);
}

/** Locks the wallets and key months that the given predictions hold money of, in the order of admission. */
export async function lockFundsOf(tx: Transaction, predictionIds: readonly string[]): Promise<void> {
  const ids = predictionIds as string[];
  await Promise.all([
    tx`
      select 1 from wallets
      where user_id in (select user_id from live_predictions where id = any(${ids}::text[]))
      order by user_id for update`,
    tx`
      select 1 from key_months m
      where (m.key_id, m.month) in (
        select key_id, key_month from live_predictions where id = any(${ids}::text[]) and key_month is not null
      )
      order by m.key_id, m.month for update`,
  ]);
}

export interface SettledPrediction {
  id: string;
  userId: string;
  keyId: string;
  keyMonth: string | null;
  modelName: string;
  route: string;
  status: number;
  reserved: Micros;
  countsParallel: boolean;
  inferenceMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  price: Micros;
}

/**
 * Takes the price and gives back the rest: ledger, usage, its hourly sums, wallet and key month, in one statement. The
 * wallets and key months are locked by `lockFundsOf` before.
 */
export async function settleFunds(tx: Transaction, settled: readonly SettledPrediction[]): Promise<void> {
  await tx`
    with given as (
      select *, clock_timestamp() as at from unnest(
        ${settled.map((one) => one.id)}::text[], ${settled.map((one) => one.userId)}::text[],
        ${settled.map((one) => one.keyId)}::text[], ${settled.map((one) => one.keyMonth)}::date[],
        ${settled.map((one) => one.modelName)}::text[], ${settled.map((one) => one.route)}::text[],
        ${settled.map((one) => one.status)}::int[], ${settled.map((one) => one.reserved)}::bigint[],
        ${settled.map((one) => Number(one.countsParallel))}::int[], ${settled.map((one) => one.inferenceMs)}::int[],
        ${settled.map((one) => one.inputTokens)}::int[], ${settled.map((one) => one.outputTokens)}::int[],
        ${settled.map((one) => one.cachedTokens)}::int[], ${settled.map((one) => one.price)}::bigint[]
      ) as g (id, user_id, key_id, key_month, model_name, route, status, reserved, counts_parallel, inference_ms,
        input_tokens, output_tokens, cached_tokens, price)
    ), used as (
      insert into usage (request_id, user_id, model_name, route, status, created_at, inference_ms, input_tokens,
        output_tokens, cached_tokens, price_micros)
      select id, user_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens, price
      from given
    ), summed as (
      insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
      select user_id, date_trunc('hour', at), model_name, count(*), count(*) filter (where price > 0), sum(price)
      from given group by 1, 2, 3
      on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
        paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
    ), released as (
      update wallets w set reserved_micros = w.reserved_micros - d.reserved, running = w.running - d.running
      from (
        select user_id, sum(reserved)::bigint as reserved, count(*) filter (where counts_parallel = 1)::int as running
        from given group by user_id
      ) d
      where w.user_id = d.user_id and (d.reserved <> 0 or d.running <> 0)
    ), months as (
      update key_months m set reserved_micros = m.reserved_micros - d.reserved, spent_micros = m.spent_micros + d.price
      from (
        select key_id, key_month, sum(reserved)::bigint as reserved, sum(price)::bigint as price
        from given where key_month is not null group by key_id, key_month
      ) d
      where m.key_id = d.key_id and m.month = d.key_month
    )
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
    select at, 'charge', 'user:' || user_id, 'platform', price, id from given where price > 0`;
}

/** A movement between a wallet and the outside, with its reason. */
export async function insertCredit(
  sql: Sql,
  { userId, amount, reason }: { userId: string; amount: Micros; reason: string },
): Promise<void> {
  const wallet = `user:${userId}`;
  const [from, to] = amount > 0 ? ["outside", wallet] : [wallet, "outside"];
  await sql`
    insert into ledger (kind, from_account, to_account, amount_micros, reason)
    values (${amount > 0 ? "credit" : "correction"}, ${from}, ${to}, ${Math.abs(amount)}, ${reason})`;
}

export async function selectWallet(
  sql: Sql,
  userId: string,
): Promise<{ balance: Micros; reserved: Micros } | undefined> {
  const [row] = await sql<{ balance: Micros; reserved: Micros }[]>`
    select balance_micros as balance, reserved_micros as reserved from wallets where user_id = ${userId}`;
  return row;
}
