import type { AgentSnapshot, AgentVisibility, TakenDown } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";

/** The public view of a published agent: the snapshot stays in the database. */
export interface Listing {
  id: string;
  slug: string;
  owner: string;
  /** Private agents appear only for keys limited to models. */
  visibility: AgentVisibility;
  name: string;
  description: string | null;
  inputSchema: AgentSnapshot["input_schema"];
  outputSchema: AgentSnapshot["output_schema"];
  pricing: AgentSnapshot["pricing"];
  createdAt: Date;
  publishedAt: Date;
}

/**
 * Last published first. `q` matches a part of the name, the description or `owner/slug`, ignoring case. An index alone selects the page;
 * snapshots are read only for its agents.
 */
export async function listListings(
  sql: Sql,
  { q, limit, offset }: { q: string | undefined; limit: number; offset: number },
): Promise<{ entries: Listing[]; total: number }> {
  const listed = sql`
    from agents a
    where a.visibility = 'public' and a.published_revision_id is not null and a.deleted_at is null
      and a.owner_id not in (select id from users where disabled_at is not null)
      ${q === undefined ? sql`` : sql`and strpos(a.search_text, lower(${q})) > 0`}`;
  const [entries, counted] = await Promise.all([
    sql<Listing[]>`
      with page as materialized (
        select a.id ${listed} order by a.published_at desc, a.id desc limit ${limit} offset ${offset}
      )
      select a.id, a.slug, u.username as owner, a.visibility, r.snapshot ->> 'name' as name,
        r.snapshot ->> 'description' as description, r.snapshot -> 'input_schema' as "inputSchema", r.snapshot -> 'output_schema' as "outputSchema",
        r.snapshot -> 'pricing' as pricing, a.created_at as "createdAt", a.published_at as "publishedAt"
      from page join agents a on a.id = page.id join users u on u.id = a.owner_id
        join agent_revisions r on r.id = a.published_revision_id
      order by a.published_at desc, a.id desc`,
    sql<{ total: number }[]>`select count(*)::integer as total ${listed}`,
  ]);
  return { entries, total: counted[0]?.total ?? 0 };
}

export interface TakeDown {
  kind: "agent" | "model";
  id: string;
  owner: string;
  name: string;
  takenDown: TakenDown;
}

export async function listTakeDowns(
  sql: Sql,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ entries: TakeDown[]; total: number }> {
  const all = sql`
    select 'agent' as kind, a.id, u.username as owner, r.snapshot ->> 'name' as name, a.taken_down
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.latest_revision_id
    where a.taken_down is not null and a.deleted_at is null
    union all
    select 'model', u.username || '/' || m.name, u.username, m.manifest ->> 'title', m.taken_down
    from models m join users u on u.id = m.owner_id
    where m.taken_down is not null and m.retired_at is null`;
  const [entries, counted] = await Promise.all([
    sql<TakeDown[]>`
      select kind, id, owner, name, taken_down as "takenDown" from (${all}) t
      order by taken_down ->> 'at' desc, id limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::integer as total from (${all}) t`,
  ]);
  return { entries, total: counted[0]?.total ?? 0 };
}
