import { randomUUID } from "node:crypto";
import type { Database } from "../../../engines/database/database.ts";
import type { Log } from "../../../kernel/log.ts";
import { repeat } from "../../../kernel/repeat.ts";
import { Ring, type RingEntry } from "../../../kernel/ring.ts";
import { singleFlight } from "../../../kernel/single-flight.ts";
import { type BackendAddress, claimSlot, freedChannel, freeSlots } from "./backend-store.ts";

export interface BackendSlot {
  free(): void;
}

/** A place among the calls of this node that wait for any backend of a model. */
export interface Ticket {
  /** Resolves when a slot may be free. Rejects with the signal's reason. */
  turn(signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** Slots of backends with a capacity, counted over all nodes. */
export interface Capacity {
  /** Undefined if all slots are taken, or if other calls of this node waited first. */
  claim(address: BackendAddress, capacity: number, ticket: Ticket | undefined): Promise<BackendSlot | undefined>;
  queue(modelId: string): Ticket;
  /** Frees all slots of this node whose calls have ended. */
  stop(): Promise<void>;
}

/** Notifications can be lost. */
const lookEveryMs = 250;
const freeAgainMs = 1_000;

class Place implements Ticket {
  wake: (() => void) | undefined;
  entry: RingEntry | undefined;
  readonly #onLeft: () => void;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = () => {
        this.wake = undefined;
        reject(signal.reason);
      };
      if (signal.aborted) return stopped();
      signal.addEventListener("abort", stopped, { once: true });
      this.wake = () => {
        this.wake = undefined;
        signal.removeEventListener("abort", stopped);
        resolve();
      };
    });
  }

  leave(): void {
    this.entry?.leave();
    this.#onLeft();
  }
}

export async function openCapacity({
  database,
  nodeId,
  log,
}: {
  database: Database;
  nodeId: string;
  log: Log;
}): Promise<Capacity> {
  const { sql } = database;
  const queues = new Map<string, Ring<Place>>();
  let ended: string[] = [];

  const wakeFirst = (modelId: string) => queues.get(modelId)?.first?.wake?.();
  const wakeAll = () => {
    for (const modelId of queues.keys()) wakeFirst(modelId);
  };

  /** Calls that end during a statement are freed by the next one. */
  const freeEnded = singleFlight(async () => {
    if (ended.length === 0) return;
    const ids = ended;
    ended = [];
    await freeSlots(sql, ids).catch((error) => {
      ended.push(...ids);
      throw error;
    });
  });

  const failed = (error: unknown) =>
    log.warn({ err: error }, "Slots of backends could not be freed; the next pass tries again");
  const listener = await database.listen(freedChannel, wakeFirst, wakeAll);
  const looking = setInterval(wakeAll, lookEveryMs);
  const freeingAgain = repeat(freeEnded, freeAgainMs, failed);

  return {
    async claim(address, capacity, ticket) {
      const first = queues.get(address.modelId)?.first;
      if (first !== undefined && first !== ticket) return undefined;
      const id = randomUUID();
      const free = () => {
        ended.push(id);
        freeEnded().catch(failed);
      };
      try {
        return (await claimSlot(sql, id, address, { capacity, nodeId })) ? { free } : undefined;
      } catch (error) {
        // The claim may have taken effect although its reply was lost.
        free();
        throw error;
      }
    },
    queue(modelId) {
      const queue = queues.get(modelId) ?? new Ring<Place>();
      queues.set(modelId, queue);
      const place = new Place(() => {
        if (queue.size === 0 && queues.get(modelId) === queue) queues.delete(modelId);
        // More than one slot may be free.
        else wakeFirst(modelId);
      });
      place.entry = queue.add(place);
      return place;
    },
    async stop() {
      clearInterval(looking);
      await Promise.all([listener.stop(), freeingAgain.stop()]);
      await freeEnded().catch(failed);
    },
  };
}
