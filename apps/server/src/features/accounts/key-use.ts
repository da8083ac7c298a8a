import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

const minute = 60_000;

export interface KeyUse {
  note(key: { keyId: string; lastUsedAt: Date | null }): void;
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
  write(keyIds: readonly string[], now: Date, unlessSince: Date): Promise<void>;
  clock: Clock;
  log: Log;
  delayMillis: number;
}): KeyUse {
  let noted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (noted.size === 0) return;
    const keyIds = [...noted];
    noted = new Set();
    const now = clock.now();
    try {
      await write(keyIds, now, new Date(now.getTime() - minute));
    } catch (error) {
      // The next use is recorded again.
      log.warn({ err: error }, "Failed to record the use of keys");
    }
  }

  return {
    note({ keyId, lastUsedAt }) {
      if (lastUsedAt && clock.now().getTime() - lastUsedAt.getTime() < minute) return;
      noted.add(keyId);
      timer ??= setTimeout(flush, delayMillis).unref();
    },
    flush,
  };
}
