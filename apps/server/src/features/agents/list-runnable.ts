import { agentSlugPattern, usernamePattern } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import { agentName, keyReachesAgent } from "./key-reach.ts";

/** An agent as a model of other protocols. */
export interface RunnableCard {
  /** `agents/<creator>/<slug>` */
  id: string;
  name: string;
  /** What a run costs the caller beside its model calls, in dollars. */
  perRun: number;
  publishedAt: Date;
}

type Reader = Pick<Caller, "userId" | "models">;
type Query = ReturnType<Sql>;

/** Of own agents, and of public ones. */
const mostListed = 1_000;

/** Published agents that the caller may run: its own first, then public ones, last published first. */
export async function listRunnable(context: AgentsContext, caller: Reader): Promise<RunnableCard[]> {
  const { sql } = context.database;
  const latest = sql`order by a.published_at desc, a.id desc limit ${mostListed}`;
  // Two indexes select the agents; snapshots are read only for these.
  return readCards(
    context,
    caller,
    sql`
    (select a.id from agents a where ${isPublished(sql)} and a.owner_id = ${caller.userId} ${latest})
    union all
    (select a.id from agents a where ${isPublished(sql)} and ${isPublic(sql)} and a.owner_id <> ${caller.userId} ${latest})`,
  );
}

/** Undefined if the agent does not exist, is not published, or the caller may not run it. */
export async function findRunnable(
  context: AgentsContext,
  caller: Reader,
  { creator, slug }: { creator: string; slug: string },
): Promise<RunnableCard | undefined> {
  if (!usernamePattern.test(creator) || !agentSlugPattern.test(slug)) return undefined;
  const { sql } = context.database;
  const [card] = await readCards(
    context,
    caller,
    sql`
    select a.id from agents a join users o on o.id = a.owner_id
    where o.username = ${creator} and a.slug = ${slug} and ${isPublished(sql)}
      and (a.owner_id = ${caller.userId} or ${isPublic(sql)})`,
  );
  return card;
}

const isPublished = (sql: Sql): Query => sql`a.published_revision_id is not null and a.deleted_at is null`;

const isPublic = (sql: Sql): Query => sql`
  a.visibility = 'public' and a.owner_id not in (select id from users where disabled_at is not null)`;

interface ListedRow extends Pick<Agent, "ownerId" | "owner" | "slug">, Omit<RunnableCard, "id"> {
  model: string;
}

async function readCards(context: AgentsContext, caller: Reader, chosen: Query): Promise<RunnableCard[]> {
  const { sql } = context.database;
  const rows = await sql<ListedRow[]>`
    with chosen as materialized (${chosen})
    select a.owner_id as "ownerId", u.username as owner, a.slug, r.snapshot ->> 'name' as name,
      r.snapshot ->> 'model' as model, a.published_at as "publishedAt",
      case when a.owner_id = ${caller.userId} then 0 else (r.snapshot -> 'pricing' ->> 'per_run')::float8 end as "perRun"
    from chosen join agents a on a.id = chosen.id join users u on u.id = a.owner_id
      join agent_revisions r on r.id = a.published_revision_id
    order by a.owner_id = ${caller.userId} desc, a.published_at desc, a.id desc`;
  const cards: RunnableCard[] = [];
  for (const row of rows) {
    const { name, perRun, publishedAt } = row;
    if (await keyReachesAgent(context, caller, row, row)) cards.push({ id: agentName(row), name, perRun, publishedAt });
  }
  return cards;
}
