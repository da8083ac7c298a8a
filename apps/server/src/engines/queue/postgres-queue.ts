import type { Database } from "../database/database.ts";
import { type Consumer, type OnTrouble, type Queue, type Topic, topics } from "./queue.ts";
import { createWakeSender } from "./wake-sender.ts";
import { createWakeSlots, lookAfterMs as usualLookAfterMs } from "./wake-slots.ts";

const channelOf = (topic: Topic): string => `gantry_wake_${topic}`;

/**
 * Wake-ups by NOTIFY. Every consumer of every node receives every wake-up; those that find no work sleep again after one
 * empty claim. Suits one node or a few. `close` leaves the database open.
 */
export function openPostgresQueue(options: { database: Database; onTrouble: OnTrouble; lookAfterMs?: number }): Queue {
  const { database, onTrouble, lookAfterMs = usualLookAfterMs } = options;
  const consumers = new Set<Consumer>();
  let closed = false;

  async function notify(topic: Topic, count: number): Promise<void> {
    // NOTIFY would wait for a flush to disk at commit, although notifications do not survive a crash.
    await database.sql`
      select set_config('synchronous_commit', 'off', true), pg_notify(${channelOf(topic)}, ${String(count)})`;
  }

  const senderOf = (topic: Topic) => createWakeSender({ send: (count) => notify(topic, count), onTrouble });
  const senders = { predictions: senderOf("predictions"), runs: senderOf("runs") } satisfies Record<Topic, unknown>;

  return {
    wake: (topic, count = 1) => senders[topic].wake(count),

    async consume(topic, { parallel }, onWake) {
      if (closed) throw new Error("The queue is closed");
      const slots = createWakeSlots({ parallel, onWake, onTrouble, lookAfterMs });
      const heard = (payload: string): void => {
        // More calls than slots would find nothing to do.
        const calls = Math.min(Number(payload) || 1, parallel - slots.waiting);
        for (let call = 0; call < calls; call++) slots.wakeSelf();
      };
      const listening = await database.listen(channelOf(topic), heard, slots.wakeSelf);
      slots.wakeSelf(); // After listening, so that no commit in between is missed.
      const consumer: Consumer = {
        async stop() {
          consumers.delete(consumer);
          const ended = slots.stop();
          await listening.stop();
          await ended;
        },
      };
      consumers.add(consumer);
      return consumer;
    },

    ready: async () => !closed && (await database.ready()),

    async close() {
      closed = true;
      for (const consumer of consumers) void consumer.stop();
      await Promise.all(topics.map((topic) => senders[topic].close()));
    },
  };
}
