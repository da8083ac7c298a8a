import type { Sql } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { storableText, wholePairs } from "./fragments.rules.ts";
import { type Fragment, insertFragment } from "./job-store.ts";

const everyMs = 250;

/**
 * Writes what a queued run of a streaming model says, merged to a few pieces a second: never a row a token. The pieces
 * that are there are always the beginning of what was said: one that could not be written is tried again before the next.
 * What could not be written at all is only missing from the live view, and from what is kept of a run that failed; the
 * whole text is stored when the run ends well.
 */
export function recordFragments(sql: Sql, job: { id: string; claim: number }, log: Log) {
  let pending = "";
  let pendingField = "";
  let seq = 0;
  let timer: NodeJS.Timeout | undefined;
  const unwritten: Fragment[] = [];
  let writing: Promise<void> = Promise.resolve();

  async function writeInOrder(): Promise<void> {
    for (let next = unwritten[0]; next; next = unwritten[0]) {
      await insertFragment(sql, job.id, next);
      unwritten.shift();
    }
  }

  function flush(text: string): void {
    pending = pending.slice(text.length);
    if (text !== "") {
      seq += 1;
      unwritten.push({ claim: job.claim, seq, field: pendingField, fragment: storableText(text) });
    }
    writing = writing
      .then(writeInOrder)
      .catch((error) => log.warn({ prediction_id: job.id, err: error }, "A piece of a stream could not be stored"));
  }

  return {
    add(field: string, text: string): void {
      if (field !== pendingField) flush(pending);
      pendingField = field;
      pending += text;
      timer ??= setTimeout(() => {
        timer = undefined;
        flush(wholePairs(pending));
      }, everyMs);
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      flush(pending);
      await writing;
    },
  };
}
