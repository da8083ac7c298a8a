import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";

const minute = 60_000;

export interface KeyUse {
  note(key: { keyId: string; lastUsedAt: Date | null }): void;
  /** Writes what is noted; called once more when the node stops. */
  flush(): Promise<void>;
}

/**
 * Keeps `last_used_at` right to the minute without a write in any request: uses are noted when a key is looked up,
 * which happens at least once a second while it is in use, and written together, at most once a minute for each key.
 */
export function createKeyUse({
  write,
  clock,
  log,
  delayMillis,
}: {
  /** Must not touch a key that another node wrote within the last minute. */
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
      // Nothing is lost but a minute: a key that is used again is noted again.
      log.warn({ err: error }, "noting the use of keys failed");
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
