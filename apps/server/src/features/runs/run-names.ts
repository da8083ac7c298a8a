import type { Sql } from "../../engines/database/database.ts";

/** The agent of a run as its reader may know it. */
export interface RunAgent {
  id: string;
  name: string;
  slug: string | null;
}

/** With the model of its revision, which is known even if predictions have expired. */
export interface TracedAgent extends RunAgent {
  model: string;
}

/**
 * The agents of runs, by run. A sub-agent that is private to another user is known by the name of the tool, as events
 * show it.
 */
export async function readRunAgents(
  sql: Sql,
  runIds: readonly string[],
  readerId: string,
): Promise<Map<string, TracedAgent>> {
  const rows = await sql<(TracedAgent & { runId: string })[]>`
    select r.id as "runId", a.id, v.snapshot ->> 'model' as model, case when seen.fully then a.slug end as slug,
      case when seen.fully or cardinality(r.ancestors) = 0 then v.snapshot ->> 'name'
        else coalesce(k.tool, 'Sub-agent') end as name
    from runs r join agents a on a.id = r.agent_id join agent_revisions v on v.id = r.revision_id
    cross join lateral (select a.owner_id = ${readerId} or a.visibility = 'public' and a.deleted_at is null as fully) seen
    left join run_calls k on not seen.fully and k.run_id = r.ancestors[cardinality(r.ancestors)]
      and k.step = r.parent_step and k.position = r.parent_position
    where r.id = any(${[...new Set(runIds)]}::text[])`;
  return new Map(rows.map(({ runId, ...agent }) => [runId, agent]));
}
