import type { Database } from "../../engines/database/database.ts";
import { endedChannel, fragmentsChannel } from "./store.ts";

export interface EndedNotices {
  /** Resolves when there may be news of the prediction, at the latest after the time. */
  next(id: string, milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** News of queued predictions from all nodes. A lost notice costs a wait, never an answer: readers look for themselves. */
export async function startEndedNotices(database: Database): Promise<EndedNotices> {
  const waiting = new Map<string, Set<() => void>>();
  const tell = (payload: string) => {
    for (const id of payload.split(",")) for (const wake of waiting.get(id) ?? []) wake();
  };
  const tellAll = () => {
    for (const wakes of waiting.values()) for (const wake of wakes) wake();
  };
  const listeners = [
    await database.listen(endedChannel, tell, tellAll),
    await database.listen(fragmentsChannel, tell, tellAll),
  ];

  return {
    next: (id, milliseconds) =>
      new Promise((resolve) => {
        const wakes = waiting.get(id) ?? new Set();
        waiting.set(id, wakes);
        const done = () => {
          clearTimeout(timer);
          wakes.delete(done);
          if (wakes.size === 0) waiting.delete(id);
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        wakes.add(done);
      }),
    async stop() {
      tellAll();
      for (const listener of listeners) await listener.stop();
    },
  };
}
