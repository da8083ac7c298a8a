import type { AgentSnapshot, AgentVisibility, AgentWarning, RevisionStatus } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent, AgentWithRevision, Revision } from "./agent.ts";

export interface PairRow extends Agent {
  revisionId: string;
  number: number;
  status: RevisionStatus;
  snapshot: AgentSnapshot;
  warnings: AgentWarning[];
  revisionCreatedAt: Date;
}

const agentColumns = (sql: Sql) => sql`
  a.id, a.owner_id as "ownerId", u.username as owner, a.slug, a.visibility, a.taken_down as "takenDown",
  a.latest_revision_id as "latestRevisionId", a.published_revision_id as "publishedRevisionId",
  a.published_at as "publishedAt", a.created_at as "createdAt", a.updated_at as "updatedAt"`;

export const pairColumns = (sql: Sql) => sql`
  ${agentColumns(sql)}, r.id as "revisionId", r.number, r.status, r.snapshot, r.warnings,
  r.created_at as "revisionCreatedAt"`;

const revisionColumns = (sql: Sql) => sql`
  r.id, r.agent_id as "agentId", r.number, r.status, r.snapshot, r.warnings, r.created_at as "createdAt"`;

export function toPair({ revisionId, number, status, snapshot, warnings, revisionCreatedAt, ...agent }: PairRow) {
  const revision = {
    id: revisionId,
    agentId: agent.id,
    number,
    status,
    snapshot,
    warnings,
    createdAt: revisionCreatedAt,
  };
  return { agent, revision };
}

/** As text, because the driver would send a value of the type json through jsonb, which loses the order of fields. */
function asJson(sql: Sql, value: unknown) {
  return sql`${JSON.stringify(value)}::text::json`;
}

// Agents. A deleted one is found by none of these.

/** The slug itself or the first free one with a number behind it. Another request may still take it first. */
export async function findFreeSlug(sql: Sql, ownerId: string, slug: string): Promise<string | undefined> {
  const [row] = await sql<{ slug: string }[]>`
    select candidate as slug
    from generate_series(1, 10000) n, lateral (select case n when 1 then ${slug} else ${slug} || '-' || n end) c (candidate)
    where not exists (
      select from agents where owner_id = ${ownerId} and agents.slug = candidate and deleted_at is null)
    order by n limit 1`;
  return row?.slug;
}

/** False when the slug was taken meanwhile. */
export async function insertAgent(tx: Transaction, agent: Omit<Agent, "owner">): Promise<boolean> {
  const rows = await tx`
    insert into agents (id, owner_id, slug, visibility, latest_revision_id, created_at, updated_at)
    values (${agent.id}, ${agent.ownerId}, ${agent.slug}, ${agent.visibility}, ${agent.latestRevisionId},
      ${agent.createdAt}, ${agent.updatedAt})
    on conflict (owner_id, slug) where deleted_at is null do nothing
    returning id`;
  return rows.length === 1;
}

export async function insertRevision(tx: Transaction, revision: Revision): Promise<void> {
  await tx`
    insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at)
    values (${revision.id}, ${revision.agentId}, ${revision.number}, ${revision.status},
      ${asJson(tx, revision.snapshot)}, ${asJson(tx, revision.warnings)}, ${revision.createdAt})`;
}

/** An agent of the owner with its latest revision. */
export async function findOwn(sql: Sql, ownerId: string, agentId: string): Promise<AgentWithRevision | undefined> {
  const [row] = await sql<PairRow[]>`
    select ${pairColumns(sql)}
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.latest_revision_id
    where a.id = ${agentId} and a.owner_id = ${ownerId} and a.deleted_at is null`;
  return row && toPair(row);
}

type CardReader = Pick<Caller, "userId" | "models">;

/** Own agents that a key limited to models may run, by the model of their published revision. */
const ownRunnable = (sql: Sql, { userId, models }: CardReader): ReturnType<Sql> => sql`
  a.owner_id = ${userId} and r.snapshot ->> 'model' = any(${[...(models ?? [])]}::text[])`;

/** A public agent, or an own one that a key limited to models may run, with its published revision. */
export async function findCard(sql: Sql, reader: CardReader, agentId: string): Promise<AgentWithRevision | undefined> {
  const [row] = await sql<PairRow[]>`
    select ${pairColumns(sql)}
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.published_revision_id
    where a.id = ${agentId} and a.deleted_at is null
      and ((a.visibility = 'public' and u.disabled_at is null) or (${ownRunnable(sql, reader)}))`;
  return row && toPair(row);
}

export type AgentAddress = { agentId: string } | { creator: string; slug: string };

const visibleTo = (sql: Sql, userId: string) => sql`
  a.deleted_at is null and (a.owner_id = ${userId} or (a.visibility = 'public' and u.disabled_at is null))`;

/** An agent that the user may know of: an own one, or a public one. */
export async function findVisible(sql: Sql, userId: string, address: AgentAddress): Promise<Agent | undefined> {
  const there =
    "agentId" in address
      ? sql`a.id = ${address.agentId}`
      : sql`u.username = ${address.creator} and a.slug = ${address.slug}`;
  const [agent] = await sql<Agent[]>`
    select ${agentColumns(sql)} from agents a join users u on u.id = a.owner_id
    where ${there} and ${visibleTo(sql, userId)}`;
  return agent;
}

/** The same, and until the transaction ends nobody deletes, hides or publishes it. */
export async function lockVisible(tx: Transaction, userId: string, agentId: string): Promise<Agent | undefined> {
  const [agent] = await tx<Agent[]>`
    select ${agentColumns(tx)} from agents a join users u on u.id = a.owner_id
    where a.id = ${agentId} and ${visibleTo(tx, userId)}
    for share of a`;
  return agent;
}

type Query = ReturnType<Sql>;

interface ListQuery {
  limit: number;
  offset: number;
  visibility?: AgentVisibility | undefined;
}

/** With their latest revisions. */
export function listOwn(sql: Sql, ownerId: string, query: ListQuery) {
  return listPairs(sql, sql`r.id = a.latest_revision_id`, sql`a.owner_id = ${ownerId}`, query);
}

/** The owner's agents that a key limited to models may run, with their published revisions. */
export function listCards(sql: Sql, reader: CardReader, query: ListQuery) {
  return listPairs(sql, sql`r.id = a.published_revision_id`, ownRunnable(sql, reader), query);
}

async function listPairs(
  sql: Sql,
  revision: Query,
  which: Query,
  { limit, offset, visibility }: ListQuery,
): Promise<{ entries: AgentWithRevision[]; total: number }> {
  const listed = sql`
    from agents a join users u on u.id = a.owner_id join agent_revisions r on ${revision}
    where ${which} and a.deleted_at is null ${visibility === undefined ? sql`` : sql`and a.visibility = ${visibility}`}`;
  const [rows, counted] = await Promise.all([
    sql<PairRow[]>`
      select ${pairColumns(sql)} ${listed} order by a.created_at desc, a.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::integer as total ${listed}`,
  ]);
  return { entries: rows.map(toPair), total: counted[0]?.total ?? 0 };
}

/** The agent and its state, locked until the transaction ends. */
export async function lockOwn(tx: Transaction, ownerId: string, agentId: string): Promise<Agent | undefined> {
  const [agent] = await tx<Agent[]>`
    select ${agentColumns(tx)} from agents a join users u on u.id = a.owner_id
    where a.id = ${agentId} and a.owner_id = ${ownerId} and a.deleted_at is null
    for update of a`;
  return agent;
}

export async function setLatest(
  tx: Transaction,
  agentId: string,
  change: { revisionId: string; visibility: AgentVisibility; now: Date },
): Promise<void> {
  await tx`
    update agents set latest_revision_id = ${change.revisionId}, visibility = ${change.visibility},
      updated_at = ${change.now}
    where id = ${agentId}`;
}

/** Makes a revision of a locked agent the published one, and the one before it superseded. */
export async function setPublished(tx: Transaction, agentId: string, revisionId: string, now: Date): Promise<void> {
  await tx`update agent_revisions set status = 'superseded' where agent_id = ${agentId} and status = 'published'`;
  await tx`update agent_revisions set status = 'published' where agent_id = ${agentId} and id = ${revisionId}`;
  await tx`
    update agents set published_revision_id = ${revisionId}, published_at = ${now}, updated_at = ${now}
    where id = ${agentId}`;
}

export async function markDeleted(tx: Transaction, ownerId: string, agentId: string, now: Date): Promise<void> {
  await tx`
    update agents set deleted_at = ${now}
    where id = ${agentId} and owner_id = ${ownerId} and deleted_at is null`;
}

/** All that this address has ever meant, deleted ones too, the newest first. */
export async function findIdsAt(sql: Sql, { creator, slug }: { creator: string; slug: string }): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from agents a join users u on u.id = a.owner_id
    where u.username = ${creator} and a.slug = ${slug} order by a.created_at desc, a.id desc limit 100`;
  return rows.map(({ id }) => id);
}

/** Also of a deleted one. */
export async function findOwner(sql: Sql, agentId: string): Promise<string | undefined> {
  const [row] = await sql<{ ownerId: string }[]>`select owner_id as "ownerId" from agents where id = ${agentId}`;
  return row?.ownerId;
}

// Revisions of an agent that the caller has already been found to own or may run.

export async function findRevision(sql: Sql, agentId: string, revisionId: string): Promise<Revision | undefined> {
  const [revision] = await sql<Revision[]>`
    select ${revisionColumns(sql)} from agent_revisions r where r.agent_id = ${agentId} and r.id = ${revisionId}`;
  return revision;
}

export async function findRevisionBefore(sql: Sql, { agentId, number }: Revision): Promise<Revision | undefined> {
  const [revision] = await sql<Revision[]>`
    select ${revisionColumns(sql)} from agent_revisions r
    where r.agent_id = ${agentId} and r.number < ${number} order by r.number desc limit 1`;
  return revision;
}

export type RevisionHead = Omit<Revision, "snapshot" | "warnings">;

export async function listHeads(
  sql: Sql,
  agentId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ entries: RevisionHead[]; total: number }> {
  const [entries, counted] = await Promise.all([
    sql<RevisionHead[]>`
      select id, agent_id as "agentId", number, status, created_at as "createdAt" from agent_revisions
      where agent_id = ${agentId} order by number desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::integer as total from agent_revisions where agent_id = ${agentId}`,
  ]);
  return { entries, total: counted[0]?.total ?? 0 };
}

// Agents that are bound to other agents, and to drives and tool servers.

export interface CallableAgent {
  id: string;
  slug: string;
  isPublished: boolean;
}

const callableBy = (sql: Sql, userId: string, agentIds: readonly string[]) => sql`
  a.id = any(${[...agentIds]}::text[]) and a.deleted_at is null
  and (a.owner_id = ${userId}
    or (a.visibility = 'public' and a.published_revision_id is not null and u.disabled_at is null))`;

/** Those of the agents that the user may call: own ones, and public ones that are published. */
export async function findCallable(sql: Sql, userId: string, agentIds: readonly string[]): Promise<CallableAgent[]> {
  if (agentIds.length === 0) return [];
  return sql<CallableAgent[]>`
    select a.id, a.slug, a.published_revision_id is not null as "isPublished"
    from agents a join users u on u.id = a.owner_id
    where ${callableBy(sql, userId, agentIds)}`;
}

/** Held until the transaction ends by whoever writes which agents an agent calls. */
export async function lockBindings(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('gantry.agents.bindings'))`;
}

/** One agent that calls another. */
export interface Binding {
  agentId: string;
  boundId: string;
}

/**
 * Which agents these agents call: by their published revisions, and, where a user is named, by the latest ones of that
 * user's agents. Drafts are nobody else's business.
 */
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

/** An agent that a run of another one may come to, or that agent itself. */
export interface ReachedAgent {
  rootId: string;
  ownerId: string;
  /** `creator/slug`. */
  agent: string;
  model: string;
  /** The models that its `run_model` is bound to. */
  calledModels: string[];
  perRun: number;
  /** Its caller is an agent of another creator, so its price is due. */
  isSold: boolean;
}

/** Of a tree with more agents than this, the first are looked at. */
const mostReached = 100;

/** What published agents may call, at any depth that runs can have, each before what it calls itself. */
export async function findReach(sql: Sql, agentIds: readonly string[]): Promise<ReachedAgent[]> {
  return sql<ReachedAgent[]>`
    select reached.root as "rootId", a.owner_id as "ownerId", u.username || '/' || a.slug as agent,
      v.snapshot ->> 'model' as model, (v.snapshot #>> '{pricing,per_run}')::float8 as "perRun",
      coalesce(reached.owner_id <> reached.caller_id, false) as "isSold", array(
        select t.value #>> '{arguments,model}' from json_array_elements(v.snapshot -> 'tools') t
        where json_typeof(t.value) = 'object' and t.value ->> 'id' = 'run_model'
          and t.value #>> '{arguments,model}' is not null
      ) as "calledModels"
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

export type UsedThing = { driveId: string } | { toolServerId: string };

/** The owner's agents whose published or latest revision uses the drive or the tool server, by name. */
export async function findUsing(sql: Sql, ownerId: string, thing: UsedThing): Promise<{ id: string; name: string }[]> {
  const uses =
    "driveId" in thing
      ? sql`(r.snapshot -> 'drives')::jsonb ? ${thing.driveId}`
      : sql`(r.snapshot -> 'mcp_servers')::jsonb @> jsonb_build_array(jsonb_build_object('id', ${thing.toolServerId}::text))`;
  return sql<{ id: string; name: string }[]>`
    select a.id, l.snapshot ->> 'name' as name
    from agents a join agent_revisions l on l.id = a.latest_revision_id
    where a.owner_id = ${ownerId} and a.deleted_at is null and exists (
      select from agent_revisions r where r.id in (a.latest_revision_id, a.published_revision_id) and ${uses})
    order by 2, 1 limit 100`;
}
