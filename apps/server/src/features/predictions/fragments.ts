import type { Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { insertFragment } from "./job-store.ts";

const everyMs = 250;

/**
 * Writes what a queued run of a streaming model says, merged to a few pieces a second: never a row a token. What could
 * not be written is only missing from the live view; the whole text is stored when the run ends.
 */
export function recordFragments(sql: Sql, job: { id: string; claim: number }, log: Log) {
  let pending = "";
  let pendingField = "";
  let seq = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function flush(): void {
    timer = undefined;
    const fragment = pending;
    pending = "";
    if (fragment === "") return;
    seq += 1;
    const row = { claim: job.claim, seq, field: pendingField, fragment };
    writing = writing
      .then(() => insertFragment(sql, job.id, row))
      .catch((error) => log.warn({ prediction_id: job.id, err: error }, "A piece of a stream could not be stored"));
  }

  return {
    add(field: string, text: string): void {
      if (field !== pendingField) flush();
      pendingField = field;
      // The database has no NUL in texts.
      pending += text.replaceAll("\u0000", "");
      timer ??= setTimeout(flush, everyMs);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      flush();
      await writing;
    },
  };
}
