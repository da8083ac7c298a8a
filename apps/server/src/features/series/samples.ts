import type { Database, Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { repeat } from "../../kernel/repeat.ts";
import { type Micros1970, micros1970, timeParameter } from "../billing/index.ts";
import { selectAlive } from "../nodes/index.ts";
import type { Steps } from "./plan.rules.ts";

const everyMs = 60_000;
const columns = { queue: "waiting", running: "running", nodes: "nodes" } as const;
export type SampledMetric = keyof typeof columns;

export interface Sampling {
  stop(): Promise<void>;
}

/** Records the load once a minute. Every node tries, and the first in each minute writes. */
export function startSampling({ database, log }: { database: Database; log: Log }): Sampling {
  const sample = () => insertSample(database.sql);
  const failed = (error: unknown) => log.warn({ err: error }, "Failed to record the load. Trying again in a minute.");
  void sample().catch(failed);
  return repeat(sample, everyMs, failed);
}

export async function insertSample(sql: Sql): Promise<void> {
  await sql`
    insert into service_samples (at, waiting, running, nodes)
    select minute, coalesce((select sum(waiting) from model_slots), 0), coalesce((select sum(running) from model_slots), 0),
      ${selectAlive(sql)}
    from date_trunc('minute', clock_timestamp()) minute
    where not exists (select 1 from service_samples where at = minute)
    on conflict do nothing`;
}

/** One batch. Returns the number of deleted rows. */
export async function deleteOldSamples(sql: Sql, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    delete from service_samples where at in (select at from service_samples where at < ${before} order by at limit ${limit})`;
  return gone.count;
}

export interface SampledStep {
  at: Micros1970;
  average: number;
  peak: number;
  lowest: number;
}

export async function selectSamples(sql: Sql, metric: SampledMetric, steps: Steps): Promise<SampledStep[]> {
  const column = sql(columns[metric]);
  return sql<SampledStep[]>`
    select ${micros1970(sql, sql`date_trunc(${steps.step}::text, at, 'UTC')`)} as at, round(avg(${column}), 2)::float8 as average,
      max(${column}) as peak, min(${column}) as lowest
    from service_samples
    where at >= ${timeParameter(steps.from)}::text::timestamptz and at < ${timeParameter(steps.to)}::text::timestamptz
    group by 1 order by 1`;
}
