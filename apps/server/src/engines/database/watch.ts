import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { ensurePostmaster, type Postmaster } from "./postmaster.ts";
import { isStill } from "./processes.ts";
import { boundLog, logTail, reasonIn } from "./server-log.ts";

export interface Watch {
  readonly current: Postmaster;
  /** Waits for a running restart. Starts nothing afterwards. */
  stop(): Promise<void>;
}

export interface WatchEvents {
  onTrouble(text: string, error?: unknown): void;
  onRestart(port: number): void;
  /** Receives the end of the log each time that a server has ended. */
  onEnd(tail: string): void;
}

const checkMs = 200;
const longestWaitMs = 10_000;
const logCheckMs = 60_000;

/**
 * Restarts the server when it dies. Polls, because an adopted server is not our child.
 *
 *     running ──gone──► starting ──► running
 *                        ▲    └─ failed ─┐
 *                        └── wait longer ┘
 */
export function watchPostmaster(
  cluster: Cluster,
  first: Postmaster,
  { onTrouble, onRestart, onEnd }: WatchEvents,
): Watch {
  let current = first;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

  async function restart(): Promise<void> {
    const reported = new Set<string>();
    const failed = (tail: string): void => {
      onEnd(tail);
      const reason = reasonIn(tail);
      if (reported.has(reason)) return;
      reported.add(reason);
      onTrouble(`PostgreSQL does not restart. Retrying. ${tail}`);
    };
    for (let waitMs = 100; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        current = await ensurePostmaster(cluster, current.port, () => undefined, failed, signal);
        onRestart(current.port);
        return onTrouble(`PostgreSQL runs again (process ${current.pid})`);
      } catch (error) {
        if (signal.aborted) return;
        failed(error instanceof Error ? error.message : String(error));
        await pause(waitMs);
      }
    }
  }

  async function loop(): Promise<void> {
    for (let checks = 1; !signal.aborted; checks++) {
      await pause(checkMs);
      if (checks % (logCheckMs / checkMs) === 0) await boundLog(cluster).catch(() => undefined);
      if (signal.aborted || (await isStill(current))) continue;
      const tail = await logTail(cluster);
      onEnd(tail);
      onTrouble(`PostgreSQL (process ${current.pid}) has died. ${tail}`);
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
