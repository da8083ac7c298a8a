import { newId } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";

/** An ended prediction in the past. */
export interface PastRequest {
  userId: string;
  /** ISO 8601 with microseconds. */
  at: string;
  model?: string;
  price?: number;
  id?: string;
  keyId?: string;
  route?: string;
  status?: number;
  inferenceMs?: number | null;
  tokens?: [input: number, output: number, cached: number] | null;
}

/**
 * Writes ended predictions as settlement would have written them at that time: usage, the balance, and the number of unfolded
 * rows. Rows before the wallet's folded_until are added to the sums by hour.
 */
export async function writePast(database: Database, requests: readonly PastRequest[]): Promise<string[]> {
  const ids = requests.map((one) => one.id ?? newId("prediction"));
  const userIds = requests.map((one) => one.userId);
  await database.transaction(async (tx) => {
    await allowPast(tx);
    await tx`select 1 from wallets where user_id = any (${userIds}::text[]) order by user_id for update`;
    await tx`
      with used as (
        insert into usage (request_id, user_id, created_at, model_name, price_micros, route, status, inference_ms,
          input_tokens, output_tokens, cached_tokens, key_id)
        select * from unnest(
          ${ids}::text[], ${userIds}::text[], ${requests.map((one) => one.at)}::text[]::timestamptz[],
          ${requests.map((one) => one.model ?? "ann/model")}::text[], ${requests.map((one) => one.price ?? 0)}::bigint[],
          ${requests.map((one) => one.route ?? "sync")}::text[], ${requests.map((one) => one.status ?? 200)}::int[],
          ${requests.map((one) => one.inferenceMs ?? null)}::int[],
          ${requests.map((one) => one.tokens?.[0] ?? null)}::int[], ${requests.map((one) => one.tokens?.[1] ?? null)}::int[],
          ${requests.map((one) => one.tokens?.[2] ?? null)}::int[], ${requests.map((one) => one.keyId ?? null)}::text[])
        returning user_id, created_at, model_name, price_micros
      ), summed as (
        -- Without figures for charts, as a version before them would have done it.
        insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
        select u.user_id, date_trunc('hour', created_at), model_name, count(*), count(*) filter (where price_micros > 0),
          sum(price_micros)
        from used u join wallets w on w.user_id = u.user_id where u.created_at <= w.folded_until group by 1, 2, 3
        on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
          paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros,
          errors = null, input_tokens = null, output_tokens = null, cached_tokens = null, latencies = null
      )
      update wallets w set balance_micros = w.balance_micros - d.price, unfolded = w.unfolded + d.unfolded
      from (
        select u.user_id, sum(price_micros) as price, count(*) filter (where u.created_at > w.folded_until) as unfolded
        from used u join wallets w on w.user_id = u.user_id group by 1
      ) d where d.user_id = w.user_id`;
  });
  return ids;
}

/** While the ledger has no charges, charges may have any date. */
async function allowPast(sql: Sql): Promise<void> {
  await sql`
    update usage_marks set charges_until = '-infinity'
    where charges_until <> '-infinity' and not exists (select 1 from ledger where kind = 'charge')`;
}

export async function writeUser(database: Database, username: string): Promise<string> {
  const id = newId("user");
  await database.sql`
    insert into users (id, username, role, plan, created_at) values (${id}, ${username}, 'user', 'free', now())`;
  await allowPast(database.sql);
  await database.sql`insert into wallets (user_id, folded_until) select ${id}, charges_until from usage_marks`;
  return id;
}

/**
 * Turns the books into those of an upgraded installation: until the upgrade the ledger has an entry for each charge, and the
 * sums include all usage.
 */
export async function adoptCharges(database: Database, until: string): Promise<void> {
  const { sql } = database;
  await sql`select fold_usage(user_id) from wallets`;
  await sql`
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
    select created_at, 'charge', 'user:' || user_id, 'platform', price_micros, request_id from usage
    where created_at < ${until}::text::timestamptz and price_micros > 0 and not is_sale(model_name)`;
  await sql`update usage_marks set charges_until = ${until}::text::timestamptz`;
  await sql`update wallets set folded_until = greatest(folded_until, ${until}::text::timestamptz)`;
}
