import type { AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";

/** A public, published agent as everybody may see it: nothing of how it works leaves the database. */
export interface Listing {
  id: string;
  slug: string;
  owner: string;
  name: string;
  inputSchema: AgentSnapshot["input_schema"];
  outputSchema: AgentSnapshot["output_schema"];
  pricing: AgentSnapshot["pricing"];
  createdAt: Date;
  publishedAt: Date;
}

/** Newest publication first. `q` is a part of the name or of `owner/slug`, in any case of letters. */
export async function listListings(
  sql: Sql,
  { q, limit, offset }: { q: string | undefined; limit: number; offset: number },
): Promise<{ entries: Listing[]; total: number }> {
  const listed = sql`
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.published_revision_id
    where a.visibility = 'public' and a.published_revision_id is not null and a.deleted_at is null
      and u.disabled_at is null
      ${
        q === undefined
          ? sql``
          : sql`and strpos(lower(u.username || '/' || a.slug || ' ' || (r.snapshot ->> 'name')), lower(${q})) > 0`
      }`;
  const [entries, counted] = await Promise.all([
    sql<Listing[]>`
      select a.id, a.slug, u.username as owner, r.snapshot ->> 'name' as name,
        r.snapshot -> 'input_schema' as "inputSchema", r.snapshot -> 'output_schema' as "outputSchema",
        r.snapshot -> 'pricing' as pricing, a.created_at as "createdAt", a.published_at as "publishedAt"
      ${listed} order by a.published_at desc, a.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::integer as total ${listed}`,
  ]);
  return { entries, total: counted[0]?.total ?? 0 };
}
