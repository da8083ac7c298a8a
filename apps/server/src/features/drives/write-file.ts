import { Readable } from "node:stream";
import { maxDriveFileBytes, newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { bytesLeft, quotaExceeded, readStorage } from "../files/index.ts";
import { contentTypeOf, takeHead } from "./content-type.ts";
import {
  type DriveFile,
  type DrivesDeps,
  driveNotFound,
  fileNotFound,
  type Place,
  type Precondition,
} from "./drive.ts";
import { filePath } from "./path.rules.ts";
import {
  doomLooseBlob,
  type FileRow,
  forgetLooseBlobs,
  insertFile,
  insertLooseBlob,
  lockDrive,
  type Occupant,
  selectDrive,
  selectFile,
  selectFileAbove,
  selectOccupant,
  takeLooseBlob,
  updateFile,
} from "./store.ts";

export interface WriteOptions extends PlaceOptions {
  signal?: AbortSignal | undefined;
}

/** Whoever would be refused anyway hears so before the bytes are read. */
export async function writeFile(
  deps: DrivesDeps,
  place: Place,
  body: Readable | Uint8Array,
  { signal, ...options }: WriteOptions,
): Promise<{ file: DriveFile; isNew: boolean }> {
  const { sql } = deps.database;
  const at = { ...place, path: filePath(place.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  const standing = options.mode === "create" ? undefined : await selectFile(sql, at);
  if (options.mode === "replace") {
    if (!standing) throw fileNotFound();
    options.precondition?.(standing.etag);
  }
  const staged = await stageContent(deps, at.ownerId, body, { signal, replacedBytes: standing?.size ?? 0 });
  try {
    return await placeContent(deps, at, staged, options);
  } catch (error) {
    await discardBlob(deps, staged.key);
    throw error;
  }
}

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
  return fault("service_unavailable", "The upload took too long. Try again.");
}

/** create: nothing may stand there; replace: a file must; put: either. */
export type WriteMode = "create" | "replace" | "put";

export interface PlaceOptions {
  mode: WriteMode;
  /** What the sender says the content is; the bytes and the name say more. */
  declaredType?: string | undefined;
  precondition?: Precondition | undefined;
}

/**
 * Makes staged bytes a file's content in one transaction: readers see the old file or the new one, whole. Of several
 * who write one path at once, the last to come here wins. The quota is decided here, for all servers. Bytes that are
 * refused stay staged.
 */
export async function placeContent(
  deps: DrivesDeps,
  { ownerId, driveId, path: given }: Place,
  staged: StagedContent,
  { mode, declaredType, precondition }: PlaceOptions,
): Promise<{ file: DriveFile; isNew: boolean }> {
  const { database, clock } = deps;
  const path = filePath(given);
  const contentType = await contentTypeOf(staged.head, { path, declared: declaredType });
  const place = async (tx: Transaction) => {
    if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
    const now = clock.now();
    const before = await selectOccupant(tx, driveId, path);
    await checkPlace(tx, { driveId, path, mode, before, precondition });
    if (!(await takeLooseBlob(tx, staged.key))) throw tookTooLong();
    const { key: blobKey, size, etag } = staged;
    const file: FileRow = {
      path,
      size,
      etag,
      contentType,
      blobKey,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    if (!before) await insertFile(tx, driveId, file);
    else await updateFile(tx, driveId, file);
    if (before?.blobKey) await insertLooseBlob(tx, before.blobKey, now);
    const more = size - (before?.size ?? 0);
    const { used, allowed } = await readStorage(tx, ownerId, deps.storageBytesPerUser);
    // A file that gets no larger is written beyond the quota too, as a smaller plan may have come in between.
    if (allowed !== undefined && more > 0 && used > allowed) throw quotaExceeded({ used: used - more, allowed });
    return { file, replaced: before?.blobKey };
  };
  const placed = await database.transaction(place).catch((error: unknown) => {
    throw orDiskFull(error, database.isFull());
  });
  if (placed.replaced) await discardBlob(deps, placed.replaced);
  const { blobKey: _, ...file } = placed.file;
  return { file, isNew: !placed.replaced };
}

async function checkPlace(
  tx: Transaction,
  {
    driveId,
    path,
    mode,
    before,
    precondition,
  }: Pick<PlaceOptions, "mode" | "precondition"> & { driveId: string; path: string; before: Occupant | undefined },
): Promise<void> {
  if (mode === "replace" && before?.type !== "file") throw fileNotFound();
  precondition?.(before?.etag ?? undefined);
  if (mode === "replace") return;
  if (before?.type === "directory") throw taken(`A directory stands at ${path}`, path);
  if (before && mode === "create") throw taken(`A file stands at ${path}`, path);
  const above = before ? undefined : await selectFileAbove(tx, driveId, path);
  if (above !== undefined) throw taken(`${above} is a file and cannot hold others`, above);
}

function taken(msg: string, path: string) {
  return fault("conflict", msg, { loc: ["path"], ctx: { path } });
}
