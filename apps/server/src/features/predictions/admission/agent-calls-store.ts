import type { Sql } from "../../../engines/database/database.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { EndedPrediction } from "../store.ts";

/** Starts waiting calls of agents that this node holds; answers which. */
export async function startAgentCalls(sql: Sql, nodeId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from start_agent_calls(${nodeId}) as id`;
  return rows.map((row) => row.id);
}

/** An ended call of an agent, and what the run's caller was charged for it: nothing where it was sponsored. */
export interface EndedCall extends EndedPrediction {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  price: Micros;
}

export async function findEndedCall(sql: Sql, id: string): Promise<EndedCall | undefined> {
  const [row] = await sql<EndedCall[]>`
    select e.id, e.user_id as "userId", e.status, e.inference_ms as "inferenceMs", e.output, e.error,
      e.stream_details as "streamDetails", coalesce(e.input_tokens, 0) as "inputTokens",
      coalesce(e.output_tokens, 0) as "outputTokens", coalesce(e.cached_tokens, 0) as "cachedTokens",
      e.cache_write_tokens as "cacheWriteTokens",
      case when e.key_id is null then 0 else e.price_micros end as price
    from ended_predictions e
    where e.id = ${id} and e.route = 'agent'`;
  return row;
}

export async function findLiveClaim(sql: Sql, id: string): Promise<number | undefined> {
  const [row] = await sql<{ claim: number }[]>`select claim from live_predictions where id = ${id}`;
  return row?.claim;
}
