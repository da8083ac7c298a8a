import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Transaction } from "./database.ts";
import { isDenied, isDiskFull } from "./unavailable.ts";

export interface DiskSpace {
  /** Receives the error of every failed query. */
  onError(error: unknown): void;
  markFull(): void;
  isFull(): boolean;
  stop(): void;
}

const probeMs = 2_000;
/** The size of one WAL segment. With less space than that the server crashes instead of refusing the write. */
const pages = 2048;

/**
 * A server with a full disk still answers reads and in-place updates. Only a growing table proves that there is space.
 *
 *     enough ──a query fails with "disk full"──► full ──every 2 s: a probe write succeeds──► enough
 */
export function watchDiskSpace(transaction: (work: (tx: Transaction) => Promise<void>) => Promise<void>): DiskSpace {
  let full = false;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function probe(): Promise<void> {
    while (full && !signal.aborted) {
      await sleep(probeMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      full = await transaction(writeProbe).then(
        () => false,
        // A role without the right to create the table cannot probe. The next failed query marks the disk full again.
        (error) => isUnavailable(error) && !isDenied(error),
      );
    }
  }

  const markFull = (): void => {
    if (full || signal.aborted) return;
    full = true;
    void probe();
  };
  return {
    onError: (error) => isDiskFull(error) && markFull(),
    markFull,
    isFull: () => full,
    stop: () => stopping.abort(),
  };
}

/** One uncompressed page a row. */
async function writeProbe(tx: Transaction): Promise<void> {
  await tx`create temporary table gantry_space (filler text storage plain) on commit drop`;
  await tx`insert into gantry_space select repeat('x', 8000) from generate_series(1, ${pages}::int)`;
}
