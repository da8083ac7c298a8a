import type { Database } from "../../apps/server/src/engines/database/index.ts";

const rowsAtOnce = 100_000;

export interface Backlog {
  rows: number;
  /** Owners, in rotation. */
  userIds: readonly string[];
  model: { id: string; name: string };
}

/** Creates the rows of accepted predictions inside PostgreSQL. */
export async function fillQueue({ sql }: Database, { rows, userIds, model }: Backlog): Promise<void> {
  for (let from = 0; from < rows; from += rowsAtOnce) {
    const to = Math.min(rows, from + rowsAtOnce) - 1;
    await sql`
      insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until, input, pricing, base_url)
      select 'pred_' || lpad(n::text, 26, '0'), (${userIds as string[]}::text[])[1 + n % ${userIds.length}], 'key_bench',
        ${model.id}, ${model.name}, 'async', now() + interval '1 day', '{"prompt": "a lighthouse in the fog"}', '{}',
        'http://127.0.0.1'
      from generate_series(${from}::int, ${to}::int) n`;
  }
  await sql`select repair_queues()`;
  await sql`
    insert into model_slots as s (model_id, waiting) values (${model.id}, ${rows})
    on conflict (model_id) do update set waiting = s.waiting + excluded.waiting`;
  await sql`
    update wallets w set waiting = g.n
    from (select user_id, count(*) as n from live_predictions where started_at is null group by 1) g
    where w.user_id = g.user_id`;
  await sql.unsafe("vacuum analyze live_predictions");
}

export async function emptyQueue({ sql }: Database): Promise<void> {
  await sql`truncate live_predictions, model_lines`;
  await sql`update model_slots set waiting = 0, running = 0`;
  await sql`update wallets set running = 0, waiting = 0, reserved_micros = 0`;
}

export async function addUsers({ sql }: Database, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with made as (
      insert into users (id, username, role, plan, created_at)
      select 'usr_bench_' || n, 'bench-' || n, 'user', 'free', now() from generate_series(1, ${count}::int) n
      returning id
    )
    insert into wallets (user_id) select id from made returning user_id as id`;
  return rows.map((row) => row.id);
}
