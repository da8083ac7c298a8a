import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { boundLog, ensurePostmaster, type Postmaster } from "./postmaster.ts";
import { isStill } from "./processes.ts";

export interface Watch {
  /** The server as it is now. */
  readonly current: Postmaster;
  /** Waits for a restart that is under way; afterwards nothing is started any more. */
  stop(): Promise<void>;
}

const lookMs = 200;
const longestWaitMs = 10_000;
const logLookMs = 60_000;

/**
 * Restarts the server when it dies. It is looked at instead of waited for, because an adopted one is not our child.
 *
 *     running ──gone──► starting ──► running
 *                        ▲    └─ failed ─┐
 *                        └── wait longer ┘
 */
export function watchPostmaster(
  cluster: Cluster,
  first: Postmaster,
  onTrouble: (text: string, error?: unknown) => void,
): Watch {
  let current = first;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

  async function restart(): Promise<void> {
    for (let waitMs = 100; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        current = await ensurePostmaster(cluster, current.port, () => undefined);
        return onTrouble(`PostgreSQL runs again (process ${current.pid})`);
      } catch (error) {
        onTrouble("PostgreSQL could not be restarted", error);
        await pause(waitMs);
      }
    }
  }

  async function loop(): Promise<void> {
    for (let looks = 1; !signal.aborted; looks++) {
      await pause(lookMs);
      if (looks % (logLookMs / lookMs) === 0) await boundLog(cluster).catch(() => undefined);
      if (signal.aborted || (await isStill(current))) continue;
      onTrouble(`PostgreSQL (process ${current.pid}) has died`);
      await restart();
    }
  }

  const ended = loop();
  return {
    get current() {
      return current;
    },
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
