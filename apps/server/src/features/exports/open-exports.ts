import type { Readable } from "node:stream";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { record } from "../audit/index.ts";
import type { ExportPart, ExportSubject } from "./part.ts";
import { writeArchive } from "./write-archive.ts";

export interface Exports {
  /** A `.tar.gz` of all data of the subject. The work stops when the stream is destroyed. */
  begin(subject: ExportSubject): Promise<Readable>;
}

/** Each reads the database and compresses for minutes. */
const mostAtOnce = 4;
const retryAfterSeconds = 30;
/** A client that takes nothing for so long must not keep others from their export. */
const mostIdleMs = 60_000;

export function openExports({
  database,
  log,
  parts,
  idleMs = mostIdleMs,
}: {
  database: Database;
  log: Log;
  parts: readonly ExportPart[];
  idleMs?: number;
}): Exports {
  const running = new Set<string>();

  function reserve(userId: string): void {
    if (running.has(userId)) {
      const msg = "An export of this account is running. Wait until it ends, or cancel it.";
      throw fault("conflict", msg, { retryAfterSeconds });
    }
    if (running.size >= mostAtOnce) {
      const msg = `${mostAtOnce} exports are running on this server. Try again when one has ended.`;
      throw fault("rate_limit", msg, { retryAfterSeconds });
    }
    running.add(userId);
  }

  return {
    async begin(subject) {
      const { userId, username } = subject.caller;
      reserve(userId);
      try {
        await database.transaction((tx) =>
          record(tx, { action: "user.export", object: { id: userId, name: username }, ownerId: userId }),
        );
      } catch (error) {
        running.delete(userId);
        throw error;
      }
      const gzip = createGzip({ level: constants.Z_BEST_SPEED });
      const reader = { check: () => refuseWithout(gzip), write: (bytes: Uint8Array) => writeTo(gzip, bytes, idleMs) };
      void writeArchive({ parts, subject, reader })
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

function refuseWithout(gzip: Gzip): void {
  if (gzip.destroyed) throw new Error("The client has left");
}

async function writeTo(gzip: Gzip, bytes: Uint8Array, idleMs: number): Promise<void> {
  refuseWithout(gzip);
  if (gzip.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => done(new Error("The client has received nothing for too long")), idleMs);
    const onDrain = () => done();
    const onClose = () => done(new Error("The client has left"));
    const done = (error?: Error) => {
      clearTimeout(timer);
      gzip.off("drain", onDrain).off("close", onClose);
      if (error) reject(error);
      else resolve();
    };
    gzip.on("drain", onDrain).on("close", onClose);
  });
}
