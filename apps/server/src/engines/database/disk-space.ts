import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Transaction } from "./database.ts";
import { isDenied, isDiskFull } from "./unavailable.ts";

/** Whether the server has room to store anything, as far as its answers say. */
export interface Room {
  /** Told of every error that a query ended with. */
  failed(error: unknown): void;
  /** For whoever learns it otherwise than from an answer. */
  foundFull(): void;
  isFull(): boolean;
  stop(): void;
}

const lookMs = 2_000;
/** As much as the next segment of the server's log takes: with less it would stop instead of refusing. */
const pages = 2048;

/**
 * A server without room still answers what only reads, and what changes a row in its place, so neither says that there
 * is room again. What does is a table that grows.
 *
 *     roomy ──an answer says "disk full"──► full ──every 2 s: as much as is needed can be stored──► roomy
 */
export function watchRoom(transaction: (work: (tx: Transaction) => Promise<void>) => Promise<void>): Room {
  let full = false;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function lookForRoom(): Promise<void> {
    while (full && !signal.aborted) {
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      full = await transaction(storeSomething).then(
        () => false,
        // Who may not make such a table cannot find out so: the next answer that says "full" tells it again.
        (error) => isUnavailable(error) && !isDenied(error),
      );
    }
  }

  const foundFull = (): void => {
    if (full || signal.aborted) return;
    full = true;
    void lookForRoom();
  };
  return {
    failed: (error) => isDiskFull(error) && foundFull(),
    foundFull,
    isFull: () => full,
    stop: () => stopping.abort(),
  };
}

/** A page a row, as large on the disk as it looks, and gone at the end. */
async function storeSomething(tx: Transaction): Promise<void> {
  await tx`create temporary table gantry_room (filler text storage plain) on commit drop`;
  await tx`insert into gantry_room select repeat('x', 8000) from generate_series(1, ${pages}::int)`;
}
