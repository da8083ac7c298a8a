import type { Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { record } from "../audit/index.ts";
import { clientOf } from "./client.ts";
import type { ExportPart, ExportSubject } from "./part.ts";
import { writeArchive } from "./write-archive.ts";

export interface Exports {
  /** A `.tar.gz` of all data of the subject. The work stops when the stream is destroyed. */
  begin(subject: ExportSubject): Promise<Readable>;
}

/** Each reads the database and compresses for minutes. */
const mostAtOnce = 4;
const retryAfterSeconds = 30;

export function openExports({
  database,
  log,
  parts,
}: {
  database: Database;
  log: Log;
  parts: readonly ExportPart[];
}): Exports {
  /** Who runs them, by account. */
  const running = new Map<string, string>();

  function reserve(userId: string, personId: string): void {
    if (running.has(userId)) {
      const msg = "An export of this account is running. Wait until it ends, or cancel it.";
      throw fault("conflict", msg, { retryAfterSeconds });
    }
    // A person may have many teams.
    if ([...running.values()].includes(personId)) {
      const msg = "You run an export of another account. Wait until it ends, or cancel it.";
      throw fault("conflict", msg, { retryAfterSeconds });
    }
    if (running.size >= mostAtOnce) {
      const msg = `${mostAtOnce} exports are running on this server. Try again when one has ended.`;
      throw fault("rate_limit", msg, { retryAfterSeconds });
    }
    running.set(userId, personId);
  }

  return {
    async begin(subject) {
      const { userId, username } = subject.caller;
      reserve(userId, subject.personId);
      try {
        await database.transaction((tx) =>
          record(tx, { action: "user.export", object: { id: userId, name: username }, ownerId: userId }),
        );
      } catch (error) {
        running.delete(userId);
        throw error;
      }
      const gzip = createGzip({ level: constants.Z_BEST_SPEED });
      void writeArchive({ parts, subject, reader: clientOf(gzip) })
        .then(
          () => gzip.end(),
          (error: Error) => {
            if (!gzip.destroyed) log.warn({ user_id: userId, err: error }, "an export was cut");
            gzip.destroy(error);
          },
        )
        .finally(() => running.delete(userId));
      return gzip;
    },
  };
}
