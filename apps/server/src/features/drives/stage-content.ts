import { Readable } from "node:stream";
import { maxDriveFileBytes, newId } from "@gantry/wire";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { bytesLeft, quotaExceeded, readStorage } from "../files/index.ts";
import { takeHead } from "./content-type.ts";
import type { DrivesDeps } from "./drive.ts";
import { doomLooseBlob, forgetLooseBlobs, insertLooseBlob } from "./store.ts";

/** An upload is given up after six hours; its bytes are thrown away after a day, when surely nobody brings them any more. */
const patienceMs = 6 * 3_600_000;
const collectAfterMs = 24 * 3_600_000;

/** Bytes that are stored and belong to no file yet: they are placed, discarded, or collected after a day. */
export interface StagedContent {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly head: Uint8Array;
}

/**
 *     row ──► bytes ──► staged ──► placed (a file has it)
 *      │        │          └─────► discarded
 *      └────────┴─ (failed, or the process died) ──► collected
 *
 * No more is stored than the quota has left; whether it may stay is decided when it is placed. A body that is refused is
 * left unread and alive, for the caller to drain or destroy; only an abort destroys it.
 */
export async function stageContent(
  deps: DrivesDeps,
  ownerId: string,
  given: Readable | Uint8Array,
  options: { signal?: AbortSignal | undefined; replacedBytes?: number } = {},
): Promise<StagedContent> {
  const { database, blobs, clock } = deps;
  const storage = await readStorage(database.sql, ownerId, deps.storageBytesPerUser);
  const left = bytesLeft(storage);
  const maxBytes = Math.min(maxDriveFileBytes, (left ?? maxDriveFileBytes) + (options.replacedBytes ?? 0));
  // A body can fail between being looked at and being stored, when nobody reads it. Whoever reads on hears of it.
  if (given instanceof Readable) given.on("error", () => {});
  const key = `drives/${newId("file")}`;
  const { head, body } = await takeHead(given);
  await insertLooseBlob(database.sql, key, new Date(clock.now().getTime() + collectAfterMs)).catch((error: unknown) => {
    throw orDiskFull(error, database.isFull());
  });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tookTooLong()), patienceMs).unref();
  const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
  try {
    // The type that counts stands with the file: it depends on a name that may not be known yet.
    const contentType = "application/octet-stream";
    const { size, etag } = await blobs.put(key, body, { contentType, maxBytes, signal });
    return { key, size, etag, head };
  } catch (error) {
    // Should this fail too, the collector does it later; what the caller must hear is why the bytes were not stored.
    await forgetLooseBlobs(database.sql, [key]).catch(() => {});
    const isBeyondQuota = maxBytes < maxDriveFileBytes && error instanceof Fault && error.type === "file_too_large";
    throw isBeyondQuota ? quotaExceeded(storage) : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Throws away a blob that no file has. Only while its row stands: without it a file has taken the blob after all (a
 * commit whose answer was lost), or it is gone. A failure is no one's concern: the row is still there then, and with it
 * the collector's reason to try again.
 */
export async function discardBlob({ database, blobs, clock }: DrivesDeps, key: string): Promise<void> {
  try {
    if (!(await doomLooseBlob(database.sql, key, clock.now()))) return;
    await blobs.delete(key);
    await forgetLooseBlobs(database.sql, [key]);
  } catch {
    // As said above.
  }
}

export function tookTooLong() {
  return fault("service_unavailable", "The file took too long to arrive and was given up");
}
