import type { Database } from "../../apps/server/src/engines/database/index.ts";
import { closeUsageDays, detailUsage, ensureUsagePartitions } from "../../apps/server/src/features/billing/index.ts";

export const yearMs = 365 * 86_400_000;
const rowsAtOnce = 500_000;
/** With one more, settlement would add them to the sums. */
const unfolded = 999;

/**
 * Creates a year of usage rows, sums and balances inside PostgreSQL. Nine of ten rows belong to one user, over a dozen
 * models, and one in ten was free. As many rows as possible are not in the sums yet. Indexes are built afterwards, which
 * takes a third of the time. Needs `bench.id`.
 */
export async function fillUsage(database: Database, userId: string, rows: number): Promise<void> {
  const { sql } = database;
  const until = new Date();
  await ensureUsagePartitions(database, new Date(until.getTime() - yearMs));
  await sql`
    insert into users (id, username, role, plan, created_at)
    select 'usr_bench_' || n, 'bench-' || n, 'user', 'free', now() from generate_series(1, 50) n`;
  await sql`insert into wallets (user_id) select 'usr_bench_' || n from generate_series(1, 50) n`;
  // Without ONLY the index is also built on the partitions.
  const indexes = await sql<{ name: string; made: string }[]>`
    select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as made
    from pg_index i where i.indrelid = 'usage'::regclass`;
  await sql.unsafe(indexes.map(({ name }) => `drop index ${name};`).join(" "));
  for (let from = 0; from < rows; from += rowsAtOnce) {
    const to = Math.min(rows, from + rowsAtOnce);
    // Covers every hour of the year. The multipliers scatter the other columns.
    await sql`
      insert into usage (request_id, user_id, model_name, route, status, created_at, inference_ms, input_tokens,
        output_tokens, cached_tokens, price_micros, key_id, run_id)
      select bench.id('pred', ms, n), case when n % 10 < 9 then ${userId} else 'usr_bench_' || (1 + n / 10 % 50) end,
        'bench/model-' || (n * 7919 % 12), (array['sync', 'stream', 'async'])[1 + n % 3],
        case when n % 10 = 7 then 502 else 200 end, to_timestamp(ms / 1000.0),
        (n * 104729 % 9000)::int, (n * 31 % 4000)::int, (n * 17 % 2000)::int, 0,
        case when n % 10 = 7 then 0 else 1 + n * 6151 % 90000 end, 'key_bench_' || n % 10,
        case when n % 100 = 3 then 'run_bench_' || n / 1000 end
      from generate_series(${from}::bigint, ${to - 1}::bigint) n
      cross join lateral (select ${until.getTime()}::bigint - ${yearMs}::bigint * (${rows}::bigint - n) / ${rows}::bigint as ms) t`;
  }
  await sql.unsafe(indexes.map(({ made }) => `${made};`).join(" "));
  await sql`update usage_marks set charges_until = '-infinity'`;
  await sql`
    update wallets w set balance_micros = balance_micros - spent, folded_until = ${until}
    from (select user_id, sum(price_micros)::bigint as spent from usage group by 1) s where s.user_id = w.user_id`;
  await sql`
    insert into usage_hours
    select user_id, date_trunc('hour', created_at), model_name, count(*), count(*) filter (where price_micros > 0),
      sum(price_micros)
    from usage group by 1, 2, 3 order by 2`;
  await closeUsageDays(database);
  // Otherwise the server would compute them during the measurement.
  await detailUsage(database, () => false);
  await sql`
    with added as (
      insert into usage (request_id, user_id, model_name, route, status, created_at, price_micros)
      select 'pred_new_' || n, ${userId}, 'bench/model-1', 'sync', 200, clock_timestamp(), 30000
      from generate_series(1, ${unfolded}::int) n returning price_micros
    )
    update wallets set unfolded = ${unfolded}, balance_micros = balance_micros - (select sum(price_micros) from added)
    where user_id = ${userId}`;
  for (const table of ["usage", "usage_hours", "usage_days"]) await sql.unsafe(`vacuum analyze ${table}`);
}
