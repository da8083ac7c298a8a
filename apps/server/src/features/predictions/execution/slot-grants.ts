import type { Database, Sql } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { EndedPrediction, GrantedSlot } from "../store.ts";
import type { HeldPredictions } from "./held-predictions.ts";

const channel = "gantry_granted";
// A notification carries at most 8000 bytes; an id has 31 characters.
const idsPerNotice = 200;

export interface GrantAnnouncements {
  announce(grants: readonly GrantedSlot[]): Promise<void>;
  stop(): Promise<void>;
}

/** Tells the node that holds a waiting prediction that its slot is there: directly when it is this one, else by NOTIFY. */
export async function startGrantAnnouncements(
  database: Database,
  nodeId: string,
  held: HeldPredictions,
): Promise<GrantAnnouncements> {
  const listener = await database.listen(channel, (payload) => {
    for (const id of payload.split(",")) held.granted(id);
  });
  return {
    async announce(grants) {
      const elsewhere: string[] = [];
      for (const grant of grants) {
        if (grant.holder === nodeId) held.granted(grant.id);
        else elsewhere.push(grant.id);
      }
      for (let from = 0; from < elsewhere.length; from += idsPerNotice) {
        await database.sql`select pg_notify(${channel}, ${elsewhere.slice(from, from + idsPerNotice).join(",")})`;
      }
    },
    stop: () => listener.stop(),
  };
}

const callsChannel = "gantry_calls";
const everyMs = 2_000;

export interface AgentCalls {
  /** Starts what this node holds of agents' calls, as far as their models and users have room. Never rejects. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls of agents wait for their turn like queued predictions, but on the node that works on the run. It looks when one
 * begins to wait, when another node says that there may be room, and by itself, because a notice can be lost.
 */
export async function startCallsOfAgents(
  database: Database,
  nodeId: string,
  held: HeldPredictions,
  log: Log,
): Promise<AgentCalls> {
  let looking: Promise<void> | undefined;
  let lookAgain = false;

  async function look(): Promise<void> {
    do {
      lookAgain = false;
      for (const id of await startAgentCalls(database.sql, nodeId)) held.granted(id);
    } while (lookAgain);
  }

  function start(): Promise<void> {
    lookAgain = true;
    looking ??= look()
      .catch((error) => log.warn({ err: error }, "Starting calls of agents failed, the next look tries again"))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  const startIfWaiting = () => {
    if (held.waitingIds().length > 0) void start();
  };
  const listener = await database.listen(callsChannel, startIfWaiting, startIfWaiting);
  const timer = setInterval(startIfWaiting, everyMs);

  return {
    start,
    async stop() {
      clearInterval(timer);
      await listener.stop();
      await looking;
    },
  };
}

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
