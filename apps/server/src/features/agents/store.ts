import type { AgentSnapshot, AgentVisibility, AgentWarning, RevisionStatus } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";
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

/** As text: the driver would send json through jsonb, which loses the order of fields. */
function asJson(sql: Sql, value: unknown) {
  return sql`${JSON.stringify(value)}::text::json`;
}

// Agents. Deleted ones are not found.

/** The slug, or the first free one with a number. Another request may still take it first. */
export async function findFreeSlug(sql: Sql, ownerId: string, slug: string): Promise<string | undefined> {
  const [row] = await sql<{ slug: string }[]>`
    select candidate as slug
    from generate_series(1, 10000) n, lateral (select case n when 1 then ${slug} else ${slug} || '-' || n end) c (candidate)
    where not exists (
      select from agents where owner_id = ${ownerId} and agents.slug = candidate and deleted_at is null)
    order by n limit 1`;
  return row?.slug;
}

/** False if the slug is taken. */
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

/** With the latest revision. */
export async function findOwn(sql: Sql, ownerId: string, agentId: string): Promise<AgentWithRevision | undefined> {
  const [row] = await sql<PairRow[]>`
    select ${pairColumns(sql)}
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.latest_revision_id
    where a.id = ${agentId} and a.owner_id = ${ownerId} and a.deleted_at is null`;
  return row && toPair(row);
}

export interface CardReader {
  userId: string;
  /** Agents and models in the key's list, with the user's aliases of these models. */
  models: readonly string[];
}

/** Agents of the user that a key limited to models may run, by their name or the model of the published revision. */
const ownRunnable = (sql: Sql, { userId, models }: CardReader): ReturnType<Sql> => sql`
  a.owner_id = ${userId} and ('agents/' || u.username || '/' || a.slug = any(${[...models]}::text[])
    or r.snapshot ->> 'model' = any(${[...models]}::text[]))`;

/** A public agent, or one that a key limited to models may run, with the published revision. */
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

const hasAddress = (sql: Sql, address: AgentAddress) =>
  "agentId" in address
    ? sql`a.id = ${address.agentId}`
    : sql`u.username = ${address.creator} and a.slug = ${address.slug}`;

export async function isThere(sql: Sql, address: AgentAddress): Promise<boolean> {
  const rows = await sql`
    select from agents a join users u on u.id = a.owner_id where ${hasAddress(sql, address)} and a.deleted_at is null`;
  return rows.length > 0;
}

/** The user's own agents and public ones. */
export async function findVisible(sql: Sql, userId: string, address: AgentAddress): Promise<Agent | undefined> {
  const [agent] = await sql<Agent[]>`
    select ${agentColumns(sql)} from agents a join users u on u.id = a.owner_id
    where ${hasAddress(sql, address)} and ${visibleTo(sql, userId)}`;
  return agent;
}

/** The same, locked against deleting, hiding and publishing. */
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

/** With the latest revisions. */
export function listOwn(sql: Sql, ownerId: string, query: ListQuery) {
  return listPairs(sql, sql`r.id = a.latest_revision_id`, sql`a.owner_id = ${ownerId}`, query);
}

/** With the published revisions. */
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

/** The agent must be locked. */
export async function setPublished(tx: Transaction, agentId: string, revisionId: string, now: Date): Promise<void> {
  await tx`update agent_revisions set status = 'superseded' where agent_id = ${agentId} and status = 'published'`;
  await tx`update agent_revisions set status = 'published' where agent_id = ${agentId} and id = ${revisionId}`;
  // The marketplace searches the texts of the published revision, not of a draft.
  await tx`
    update agents a set published_revision_id = r.id, published_at = ${now}, updated_at = ${now},
      search_text = lower(u.username || '/' || a.slug || ' ' || (r.snapshot ->> 'name')
        || coalesce(' ' || (r.snapshot ->> 'description'), ''))
    from agent_revisions r, users u
    where a.id = ${agentId} and r.id = ${revisionId} and u.id = a.owner_id`;
}

export async function markDeleted(tx: Transaction, ownerId: string, agentId: string, now: Date): Promise<void> {
  await tx`
    update agents set deleted_at = ${now}
    where id = ${agentId} and owner_id = ${ownerId} and deleted_at is null`;
}

/** All agents that had this address, including deleted ones, newest first. */
export async function findIdsAt(sql: Sql, { creator, slug }: { creator: string; slug: string }): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select a.id from agents a join users u on u.id = a.owner_id
    where u.username = ${creator} and a.slug = ${slug} order by a.created_at desc, a.id desc limit 100`;
  return rows.map(({ id }) => id);
}

/** Also of deleted agents. */
export async function findOwner(sql: Sql, agentId: string): Promise<string | undefined> {
  const [row] = await sql<{ ownerId: string }[]>`select owner_id as "ownerId" from agents where id = ${agentId}`;
  return row?.ownerId;
}

// Revisions. The caller has been authorized for the agent.

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

/** Of all agents of a user, also of deleted ones, newest first. `before`: the last id of the page before. */
export async function selectRevisionsOf(
  sql: Sql,
  ownerId: string,
  before: string | undefined,
  limit: number,
): Promise<Revision[]> {
  return sql<Revision[]>`
    select ${revisionColumns(sql)} from agent_revisions r join agents a on a.id = r.agent_id
    where a.owner_id = ${ownerId} ${before === undefined ? sql`` : sql`and r.id < ${before}`}
    order by r.id desc limit ${limit}`;
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
