import { type AgentActivity, mostCountedRuns } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";

interface ActivityRow {
  id: string;
  runs: number;
  succeeded: number;
  failed: number;
  lastRunAt: Date | null;
}

const noActivity: AgentActivity = { runs: 0, succeeded: 0, failed: 0, last_run_at: null };

/** Reads an index only, and a bounded number of entries per agent. */
export async function readActivity(sql: Sql, agentIds: readonly string[]): Promise<(agentId: string) => AgentActivity> {
  if (agentIds.length === 0) return () => noActivity;
  const rows = await sql<ActivityRow[]>`
    select wanted.id, counted.runs, counted.succeeded, counted.failed, latest.created_at as "lastRunAt"
    from unnest(${[...agentIds]}::text[]) as wanted (id)
    cross join lateral (
      select count(*)::integer as runs, count(*) filter (where status = 'done')::integer as succeeded,
        count(*) filter (where status = 'error')::integer as failed
      from (
        select status from runs where agent_id = wanted.id and created_at > now() - interval '30 days'
        order by created_at desc limit ${mostCountedRuns}
      ) recent
    ) counted
    left join lateral (
      select created_at from runs where agent_id = wanted.id order by created_at desc limit 1
    ) latest on true`;
  const found = new Map(
    rows.map(({ id, lastRunAt, ...counts }) => [id, { ...counts, last_run_at: lastRunAt?.toISOString() ?? null }]),
  );
  return (agentId) => found.get(agentId) ?? noActivity;
}
