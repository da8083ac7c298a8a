import type { Database } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import type { HeldPredictions } from "../execution/held-predictions.ts";
import { startAgentCalls } from "./agent-calls-store.ts";

const channel = "gantry_calls";
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
  const listener = await database.listen(channel, startIfWaiting, startIfWaiting);
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
