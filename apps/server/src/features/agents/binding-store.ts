import type { Sql, Transaction } from "../../engines/database/database.ts";

// Queries for sub-agents, drives and tool servers of agents.

export interface CallableAgent {
  id: string;
  slug: string;
  isPublished: boolean;
}

const callableBy = (sql: Sql, userId: string, agentIds: readonly string[]) => sql`
  a.id = any(${[...agentIds]}::text[]) and a.deleted_at is null
  and (a.owner_id = ${userId}
    or (a.visibility = 'public' and a.published_revision_id is not null and u.disabled_at is null))`;

/** Agents among the ids that the user may call: own agents, and public ones that are published. */
export async function findCallable(sql: Sql, userId: string, agentIds: readonly string[]): Promise<CallableAgent[]> {
  if (agentIds.length === 0) return [];
  return sql<CallableAgent[]>`
    select a.id, a.slug, a.published_revision_id is not null as "isPublished"
    from agents a join users u on u.id = a.owner_id
    where ${callableBy(sql, userId, agentIds)}`;
}

/** Serializes changes of sub-agents, so that two changes cannot close a cycle together. */
export async function lockBindings(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('gantry.agents.bindings'))`;
}

/** An agent that calls another. */
export interface Binding {
  agentId: string;
  boundId: string;
}

/** Sub-agents of the agents by their published revisions and, with a user, by the drafts of that user. */
export async function findBound(sql: Sql, userId: string | null, agentIds: readonly string[]): Promise<Binding[]> {
  return sql<Binding[]>`
    select distinct a.id as "agentId", t.value ->> 'agent_id' as "boundId"
    from agents a
    join agent_revisions r on r.agent_id = a.id
      and (r.id = a.published_revision_id or (a.owner_id = ${userId} and r.id = a.latest_revision_id))
    cross join lateral json_array_elements(r.snapshot -> 'tools') t
    where a.id = any(${[...agentIds]}::text[]) and a.deleted_at is null
      and json_typeof(t.value) = 'object' and t.value ->> 'type' = 'agent'`;
}

/** An agent that a run of the root agent may reach, including the root. */
export interface ReachedAgent {
  rootId: string;
  ownerId: string;
  /** `creator/slug`. */
  agent: string;
  model: string;
  /** Models bound to its `run_model`. */
  calledModels: string[];
  perRun: number;
  /** Without sub-agents. */
  toolIds: string[];
  /** Called by an agent of another creator, so its price is charged. */
  isSold: boolean;
}

/** Larger trees are truncated. */
const mostReached = 100;

/** Agents that runs of published agents may reach, parents before children. */
export async function findReach(sql: Sql, agentIds: readonly string[]): Promise<ReachedAgent[]> {
  return sql<ReachedAgent[]>`
    select reached.root as "rootId", a.owner_id as "ownerId", u.username || '/' || a.slug as agent,
      v.snapshot ->> 'model' as model, (v.snapshot #>> '{pricing,per_run}')::float8 as "perRun",
      coalesce(reached.owner_id <> reached.caller_id, false) as "isSold", array(
        select t.value #>> '{arguments,model}' from json_array_elements(v.snapshot -> 'tools') t
        where json_typeof(t.value) = 'object' and t.value ->> 'id' = 'run_model'
          and t.value #>> '{arguments,model}' is not null
      ) as "calledModels", array_remove(array(
        select case json_typeof(t.value) when 'object' then t.value ->> 'id' else t.value #>> '{}' end
        from json_array_elements(v.snapshot -> 'tools') t
      ), null) as "toolIds"
    from unnest(${[...agentIds]}::text[]) as root (id) cross join lateral (
      with recursive reach as (
        select a.id as root, a.id, a.owner_id, null::text as caller_id, 0 as depth from agents a where a.id = root.id
        union
        select r.root, b.id, b.owner_id, r.owner_id, r.depth + 1
        from reach r join agents a on a.id = r.id join agent_revisions v on v.id = a.published_revision_id
          cross join lateral json_array_elements(v.snapshot -> 'tools') t
          join agents b on b.id = t.value ->> 'agent_id' and b.deleted_at is null
            and b.published_revision_id is not null
          join users u on u.id = b.owner_id
        where r.depth < 5 and json_typeof(t.value) = 'object' and t.value ->> 'type' = 'agent'
          and (b.owner_id = r.owner_id or (b.visibility = 'public' and u.disabled_at is null))
      )
      select * from reach limit ${mostReached}
    ) reached join agents a on a.id = reached.id join users u on u.id = a.owner_id
      join agent_revisions v on v.id = a.published_revision_id
    order by reached.root, reached.depth, reached.id`;
}

export async function ownAmong(sql: Sql, ownerId: string, agentIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from agents where id = any(${[...agentIds]}::text[]) and owner_id = ${ownerId}`;
  return rows.map(({ id }) => id);
}

export type UsedResource = { driveId: string } | { toolServerId: string };

/** The owner's agents whose published or latest revision uses the drive or tool server. */
export async function findUsing(
  sql: Sql,
  ownerId: string,
  resource: UsedResource,
): Promise<{ id: string; name: string }[]> {
  const uses =
    "driveId" in resource
      ? sql`((r.snapshot -> 'drives')::jsonb ? ${resource.driveId} or r.snapshot -> 'memory' ->> 'drive' = ${resource.driveId})`
      : sql`(r.snapshot -> 'mcp_servers')::jsonb @> jsonb_build_array(jsonb_build_object('id', ${resource.toolServerId}::text))`;
  return sql<{ id: string; name: string }[]>`
    select a.id, l.snapshot ->> 'name' as name
    from agents a join agent_revisions l on l.id = a.latest_revision_id
    where a.owner_id = ${ownerId} and a.deleted_at is null and exists (
      select from agent_revisions r where r.id in (a.latest_revision_id, a.published_revision_id) and ${uses})
    order by 2, 1 limit 100`;
}
