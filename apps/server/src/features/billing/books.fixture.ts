import { newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";

/** An ended prediction as a test wants it to have been. */
export interface PastRequest {
  userId: string;
  /** ISO text; microseconds count. */
  at: string;
  model?: string;
  price?: number;
  id?: string;
  route?: string;
  status?: number;
  inferenceMs?: number | null;
  tokens?: [input: number, output: number, cached: number] | null;
}

/**
 * Writes ended predictions at moments of the test's choice, as settlement would have: usage, its sums by hour and the
 * ledger. Settlement itself takes the time from the database's clock.
 */
export async function writePast(database: Database, requests: readonly PastRequest[]): Promise<string[]> {
  const ids = requests.map((one) => one.id ?? newId("prediction"));
  await database.sql`
    with given as (
      select * from unnest(
        ${ids}::text[], ${requests.map((one) => one.userId)}::text[], ${requests.map((one) => one.at)}::text[]::timestamptz[],
        ${requests.map((one) => one.model ?? "ann/model")}::text[], ${requests.map((one) => one.price ?? 0)}::bigint[],
        ${requests.map((one) => one.route ?? "sync")}::text[], ${requests.map((one) => one.status ?? 200)}::int[],
        ${requests.map((one) => one.inferenceMs ?? null)}::int[], ${requests.map((one) => one.tokens?.[0] ?? null)}::int[],
        ${requests.map((one) => one.tokens?.[1] ?? null)}::int[], ${requests.map((one) => one.tokens?.[2] ?? null)}::int[]
      ) as g (id, user_id, at, model, price, route, status, ms, input, output, cached)
    ), used as (
      insert into usage select id, user_id, model, route, status, at, ms, input, output, cached, price from given
    ), summed as (
      insert into usage_hours as h
      select user_id, date_trunc('hour', at), model, count(*), count(*) filter (where price > 0), sum(price)
      from given group by 1, 2, 3
      on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
        paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
    )
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
    select at, 'charge', 'user:' || user_id, 'platform', price, id from given where price > 0`;
  return ids;
}

export async function writeUser(database: Database, username: string): Promise<string> {
  const id = newId("user");
  await database.sql`
    insert into users (id, username, role, plan, created_at) values (${id}, ${username}, 'user', 'free', now())`;
  await database.sql`insert into wallets (user_id) values (${id})`;
  return id;
}
