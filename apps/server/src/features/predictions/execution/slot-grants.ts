import type { Database } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import { singleFlight } from "../../../kernel/single-flight.ts";
import type { GrantedSlot } from "../prediction.ts";
import type { LivePredictions } from "./live-predictions.ts";

const grantedChannel = "gantry_granted";
const callsChannel = "gantry_calls";
// A notification carries at most 8000 bytes; an id has 31 characters.
const idsPerNotification = 200;
const startCallsEveryMs = 2_000;

export interface GrantAnnouncements {
  announce(grants: readonly GrantedSlot[]): Promise<void>;
  stop(): Promise<void>;
}

/** Passes granted slots to the nodes whose predictions wait for them: directly on this node, else by NOTIFY. */
export async function startGrantAnnouncements(
  database: Database,
  nodeId: string,
  live: LivePredictions,
): Promise<GrantAnnouncements> {
  const listener = await database.listen(grantedChannel, (payload) => {
    for (const id of payload.split(",")) live.granted(id);
  });
  return {
    async announce(grants) {
      const elsewhere: string[] = [];
      for (const grant of grants) {
        if (grant.holder === nodeId) live.granted(grant.id);
        else elsewhere.push(grant.id);
      }
      for (let from = 0; from < elsewhere.length; from += idsPerNotification) {
        const ids = elsewhere.slice(from, from + idsPerNotification).join(",");
        await database.sql`select pg_notify(${grantedChannel}, ${ids})`;
      }
    },
    stop: () => listener.stop(),
  };
}

export interface AgentCalls {
  /** Starts waiting model calls of this node's runs, as far as models and plans allow. Never rejects. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Model calls of runs wait like queued predictions, but on the node that works on the run. The node tries to start them
 * when one begins to wait, when another node reports a free slot, and every two seconds, because notifications can be lost.
 */
export async function startAgentCalls(
  database: Database,
  nodeId: string,
  live: LivePredictions,
  log: Log,
): Promise<AgentCalls> {
  let starting: Promise<void> | undefined;
  const startAll = singleFlight(async () => {
    const rows = await database.sql<{ id: string }[]>`select id from start_agent_calls(${nodeId}) as id`;
    for (const { id } of rows) live.granted(id);
  });

  function start(): Promise<void> {
    starting = startAll().catch((error) =>
      log.warn({ err: error }, "Starting model calls of runs failed; the next pass tries again"),
    );
    return starting;
  }

  const startIfWaiting = () => {
    if (live.waitingIds().length > 0) void start();
  };
  const listener = await database.listen(callsChannel, startIfWaiting, startIfWaiting);
  const timer = setInterval(startIfWaiting, startCallsEveryMs);

  return {
    start,
    async stop() {
      clearInterval(timer);
      await listener.stop();
      await starting;
    },
  };
}
