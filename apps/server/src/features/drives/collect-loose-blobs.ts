import type { Log } from "../../kernel/log.ts";
import { singleFlight } from "../../kernel/single-flight.ts";
import type { DrivesDeps } from "./drive.ts";
import { claimLooseBlobs, deleteLooseBlobRows } from "./store.ts";

const batch = 200;
/** A batch that is not finished in this time is due again. */
const claimMs = 10 * 60_000;
const everyMs = 60_000;

/**
 * Deletes blobs without a file: replaced, deleted, or left by a process that died. Any number of nodes may run it. A blob
 * is marked first, so that no slow upload can turn it into a file. Returns the size of the batch; failures are retried
 * later.
 */
export async function collectLooseBlobs({ database, blobs, clock }: DrivesDeps): Promise<number> {
  const now = clock.now();
  const again = new Date(now.getTime() + claimMs);
  const keys = await claimLooseBlobs(database.sql, { now, again, limit: batch });
  const gone: string[] = [];
  let failure: { error: unknown } | undefined;
  for (const key of keys) {
    try {
      await blobs.delete(key);
      gone.push(key);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (gone.length > 0) await deleteLooseBlobRows(database.sql, gone);
  if (failure) throw failure.error;
  return keys.length;
}

export interface DriveUpkeep {
  /** Runs until nothing is due. Passes also run every minute. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

export function startDriveUpkeep(deps: DrivesDeps & { log: Log }): DriveUpkeep {
  let stopped = false;
  const pass = singleFlight(async () => {
    try {
      while (!stopped && (await collectLooseBlobs(deps)) === batch);
    } catch (error) {
      deps.log.warn({ err: error }, "Failed to delete unused drive blobs. Trying again.");
    }
  });
  const timer = setInterval(pass, everyMs);
  timer.unref();

  return {
    pass,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await pass();
    },
  };
}
