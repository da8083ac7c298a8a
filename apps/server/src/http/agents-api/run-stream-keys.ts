import type { FastifyRequest } from "fastify";
import { Fault } from "../../kernel/errors.ts";
import { presentedKey } from "../foundation/presented-key.ts";

/** With what a lookup takes less than a second, and each second one lookup at most is the database's. */
const lookMs = 500;

export interface StreamKeys {
  /** Calls `onGone`, once, when the key of the request works no longer. What it answers ends the watch. */
  watch(request: FastifyRequest, onGone: () => void): () => void;
}

interface Watched {
  authenticate(presented: string): Promise<unknown>;
  readers: Set<() => void>;
  isLooking: boolean;
}

/**
 * The keys behind the streams that are open on this node. A request is let in once and a stream goes on, so its key is
 * looked at again as a new request's would be: from memory while nothing has changed, one look a key however many read.
 */
export function createStreamKeys(): StreamKeys {
  const keys = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  async function look(key: string, watched: Watched): Promise<void> {
    if (watched.isLooking) return;
    watched.isLooking = true;
    try {
      await watched.authenticate(key);
    } catch (error) {
      // While the database is away nobody knows, and there are no events either.
      if (error instanceof Fault && error.type === "unauthorized") for (const onGone of watched.readers) onGone();
    } finally {
      watched.isLooking = false;
    }
  }

  function lookAtAll(): void {
    for (const [key, watched] of keys) void look(key, watched);
  }

  return {
    watch({ headers, identified }, onGone) {
      const key = presentedKey(headers);
      if (key === undefined || !identified) throw new Error("the events of a run are read by nobody");
      const watched = keys.get(key) ?? { authenticate: identified.by, readers: new Set(), isLooking: false };
      keys.set(key, watched);
      const reader = () => {
        watched.readers.delete(reader);
        onGone();
      };
      watched.readers.add(reader);
      timer ??= setInterval(lookAtAll, lookMs).unref();
      return () => {
        watched.readers.delete(reader);
        if (watched.readers.size === 0 && keys.get(key) === watched) keys.delete(key);
        if (keys.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
