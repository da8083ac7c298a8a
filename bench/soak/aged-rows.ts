import type { Database } from "../../apps/server/src/engines/database/index.ts";
import { firstIdAt } from "../../apps/server/src/kernel/first-id-at.ts";

const daysAgo = 3;
const batch = 500;

/**
 * Inserts copies of ended predictions, runs and webhook deliveries as if they had ended days ago, so that retention has
 * something to delete during the soak. Settings count in days, and the clock is left alone.
 */
export async function insertAgedRows({ sql }: Database): Promise<number> {
  const then = new Date(Date.now() - daysAgo * 86_400_000);
  const since = new Date(Date.now() - 60_000);
  const timeOf = (id: string) => id.slice(id.indexOf("_") + 1, id.indexOf("_") + 11);
  const old = timeOf(firstIdAt("pred", then));
  const predictions = await sql`
    insert into ended_predictions
    select (json_populate_record(e, json_build_object('id', 'pred_' || ${old}::text || substr(e.id, 16),
      'created_at', ${then}::timestamptz, 'ended_at', ${then}::timestamptz, 'run_id', null))).*
    from ended_predictions e where e.ended_at > ${since} and e.output is not null and e.run_id is null
      and e.model_name <> 'gantry/image' order by e.id limit ${batch}
    on conflict do nothing`;
  const runs = await sql`
    insert into runs
    select (json_populate_record(r, json_build_object('id', 'run_' || ${old}::text || substr(r.id, 15),
      'created_at', ${then}::timestamptz, 'completed_at', ${then}::timestamptz, 'thread_id', null, 'source_id', null,
      'sequence', null, 'held_micros', 0))).*
    from runs r where r.completed_at > ${since} and cardinality(r.ancestors) = 0 order by r.id limit ${batch}
    on conflict do nothing`;
  const deliveries = await sql`
    insert into webhook_deliveries
    select (json_populate_record(d, json_build_object('id', 'whd_' || ${old}::text || substr(d.id, length(d.id) - 15),
      'prediction_id', 'old_' || d.prediction_id, 'created_at', ${then}::timestamptz))).*
    from webhook_deliveries d where d.created_at > ${since} and d.status = 'delivered' limit ${batch}
    on conflict do nothing`;
  return predictions.count + runs.count + deliveries.count;
}

/** Aged rows that retention has not deleted yet. */
export async function countAgedRows({ sql }: Database): Promise<number> {
  const [row] = await sql<[{ n: number }]>`
    select ((select count(*) from ended_predictions where ended_at < now() - interval '2 days')
      + (select count(*) from runs where completed_at < now() - interval '2 days')
      + (select count(*) from webhook_deliveries where created_at < now() - interval '2 days'))::int as n`;
  return row.n;
}
