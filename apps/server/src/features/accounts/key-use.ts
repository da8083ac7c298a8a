import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { KeyUses } from "./key-use-store.ts";

const minute = 60_000;

export interface KeyUse {
  note(used: { keyId: string; public?: string; ofSession?: boolean; lastUsedAt: Date | null }): void;
  /** Call once more when the node stops. */
  flush(): Promise<void>;
}

/** Keeps `last_used_at` accurate to the minute without a write per request: uses are collected and written in batches. */
export function createKeyUse({
  write,
  clock,
  log,
  delayMillis,
}: {
  /** Must skip keys that another node wrote within the last minute. */
  write(uses: KeyUses, now: Date, unlessSince: Date): Promise<void>;
  clock: Clock;
  log: Log;
  delayMillis: number;
}): KeyUse {
  let noted = new Set<string>();
  let sessions = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (noted.size === 0) return;
    const uses = { keyIds: [...noted], sessions: [...sessions] };
    noted = new Set();
    sessions = new Set();
    const now = clock.now();
    try {
      await write(uses, now, new Date(now.getTime() - minute));
    } catch (error) {
      // The next use is recorded again.
      log.warn({ err: error }, "Failed to record the use of keys");
    }
  }

  return {
    note({ keyId, public: publicPart, ofSession, lastUsedAt }) {
      if (lastUsedAt && clock.now().getTime() - lastUsedAt.getTime() < minute) return;
      noted.add(keyId);
      if (ofSession && publicPart !== undefined) sessions.add(publicPart);
      timer ??= setTimeout(flush, delayMillis).unref();
    },
    flush,
  };
}
