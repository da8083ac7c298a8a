import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { ensurePostmaster, type Postmaster } from "./postmaster.ts";
import { isStill } from "./processes.ts";
import { boundLog, lastWords, reasonIn } from "./server-log.ts";

export interface Watch {
  /** The server as it is now. */
  readonly current: Postmaster;
  /** Waits for a restart that is under way; afterwards nothing is started any more. */
  stop(): Promise<void>;
}

export interface WatchEvents {
  onTrouble(text: string, error?: unknown): void;
  /** Told what a server said last, each time that one has ended. */
  onEnd(words: string): void;
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
export function watchPostmaster(cluster: Cluster, first: Postmaster, { onTrouble, onEnd }: WatchEvents): Watch {
  let current = first;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

  async function restart(): Promise<void> {
    const told = new Set<string>();
    const failed = (words: string): void => {
      onEnd(words);
      const reason = reasonIn(words);
      if (told.has(reason)) return;
      told.add(reason);
      onTrouble(`PostgreSQL does not start again, it is tried further. ${words}`);
    };
    for (let waitMs = 100; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        current = await ensurePostmaster(cluster, current.port, () => undefined, failed, signal);
        return onTrouble(`PostgreSQL runs again (process ${current.pid})`);
      } catch (error) {
        if (signal.aborted) return;
        failed(error instanceof Error ? error.message : String(error));
        await pause(waitMs);
      }
    }
  }

  async function loop(): Promise<void> {
    for (let looks = 1; !signal.aborted; looks++) {
      await pause(lookMs);
      if (looks % (logLookMs / lookMs) === 0) await boundLog(cluster).catch(() => undefined);
      if (signal.aborted || (await isStill(current))) continue;
      const words = await lastWords(cluster);
      onEnd(words);
      onTrouble(`PostgreSQL (process ${current.pid}) has died. ${words}`);
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
