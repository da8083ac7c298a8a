import type { Database } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";

/** Counts accepted and ended predictions of each model, and writes them once a second. */
export interface FlowCounts {
  accepted(modelId: string): void;
  ended(modelId: string): void;
  stop(): Promise<void>;
}

const everyMs = 1_000;

export function countFlow({ sql }: Database, log: Log): FlowCounts {
  let counts = new Map<string, { accepted: number; ended: number }>();

  function of(modelId: string): { accepted: number; ended: number } {
    let count = counts.get(modelId);
    if (!count) {
      count = { accepted: 0, ended: 0 };
      counts.set(modelId, count);
    }
    return count;
  }

  async function write(): Promise<void> {
    if (counts.size === 0) return;
    const [models, all] = [[...counts.keys()], [...counts.values()]];
    counts = new Map();
    await sql`
      insert into model_flow as f (model_id, second, accepted, ended)
      select model_id, extract(epoch from clock_timestamp())::bigint, accepted, ended
      from unnest(${models}::text[], ${all.map((one) => one.accepted)}::int[], ${all.map((one) => one.ended)}::int[])
        as g (model_id, accepted, ended)
      order by model_id
      on conflict (model_id, second) do update set accepted = f.accepted + excluded.accepted,
        ended = f.ended + excluded.ended`;
  }

  // Counts that cannot be written are lost. They only serve a display of the last minute.
  const failed = (error: unknown) =>
    log.warn({ err: error }, "The flow counts of the last second could not be written");
  const writes = repeat(write, everyMs, failed);
  return {
    accepted: (modelId) => {
      of(modelId).accepted++;
    },
    ended: (modelId) => {
      of(modelId).ended++;
    },
    async stop() {
      await writes.stop();
      await write().catch(failed);
    },
  };
}
