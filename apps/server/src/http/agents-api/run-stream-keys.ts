import type { FastifyRequest } from "fastify";
import { Fault } from "../../kernel/errors.ts";
import { presentedKey, wantedTeam } from "../foundation/credentials.ts";

/** The database is asked at most once a second per key. */
const checkMs = 500;

/** Of a key that stopped working, and of a person who left the team. */
const isRefusal = ({ status }: Fault): boolean => [401, 403, 404].includes(status);

export interface StreamKeys {
  /** Calls `onRevoked` once, when the key of the request stops working. Returns a function that ends the watch. */
  watch(request: FastifyRequest, onRevoked: () => void): () => void;
}

interface Watched {
  authenticate(): Promise<unknown>;
  readers: Set<() => void>;
  isChecking: boolean;
}

/**
 * The keys of the open streams on this node. A stream outlives the check of its request, so its key is checked again,
 * once per key for all readers, and from memory while nothing has changed.
 */
export function createStreamKeys(): StreamKeys {
  const keys = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  async function check(watched: Watched): Promise<void> {
    if (watched.isChecking) return;
    watched.isChecking = true;
    try {
      await watched.authenticate();
    } catch (error) {
      // While the database is unavailable the state of the key is unknown, and events do not arrive either.
      if (error instanceof Fault && isRefusal(error)) for (const onRevoked of watched.readers) onRevoked();
    } finally {
      watched.isChecking = false;
    }
  }

  function checkAll(): void {
    for (const watched of keys.values()) void check(watched);
  }

  return {
    watch({ headers, identified }, onRevoked) {
      const presented = presentedKey(headers);
      if (presented === undefined || !identified) throw new Error("A stream of events needs a caller");
      const team = wantedTeam(headers);
      const key = `${team ?? ""} ${presented}`;
      const authenticate = () => identified.by(presented, team);
      const watched = keys.get(key) ?? { authenticate, readers: new Set(), isChecking: false };
      keys.set(key, watched);
      const reader = () => {
        watched.readers.delete(reader);
        onRevoked();
      };
      watched.readers.add(reader);
      timer ??= setInterval(checkAll, checkMs).unref();
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
