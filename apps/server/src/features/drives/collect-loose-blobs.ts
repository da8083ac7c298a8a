import type { Log } from "../../kernel/log.ts";
import type { DrivesDeps } from "./drive.ts";
import { doomLooseBlobs, forgetLooseBlobs } from "./store.ts";

const batch = 200;
/** How long a collector may take over a batch; what it did not manage is then due again. */
const claimMs = 10 * 60_000;
const everyMs = 60_000;

/**
 * Throws away what no file refers to any more, or never did because its process died. Called now and then, by any number
 * of nodes. A blob is doomed before it is deleted, so that no slow upload makes a file of it in between. Answers how many
 * it took on, so that the caller can come back at once after a full batch; what fails is tried again later.
 */
export async function collectLooseBlobs({ database, blobs, clock }: DrivesDeps): Promise<number> {
  const now = clock.now();
  const again = new Date(now.getTime() + claimMs);
  const keys = await doomLooseBlobs(database.sql, { now, again, limit: batch });
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
  if (gone.length > 0) await forgetLooseBlobs(database.sql, gone);
  if (failure) throw failure.error;
  return keys.length;
}

export interface DriveUpkeep {
  /** Passes go on every minute by themselves; this is one now, until nothing is due. */
  pass(): Promise<void>;
  stop(): Promise<void>;
}

export function startDriveUpkeep(deps: DrivesDeps & { log: Log }): DriveUpkeep {
  let stopped = false;
  let latest: Promise<void> = Promise.resolve();

  async function collect(): Promise<void> {
    try {
      while (!stopped && (await collectLooseBlobs(deps)) === batch);
    } catch (error) {
      deps.log.warn({ err: error }, "Collecting what drives no longer hold failed, it is tried again");
    }
  }
  const pass = () => {
    latest = latest.then(collect);
    return latest;
  };
  const timer = setInterval(pass, everyMs);
  timer.unref();

  return {
    pass,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await latest;
    },
  };
}
