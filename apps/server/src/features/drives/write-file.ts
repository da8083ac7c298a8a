import { Readable } from "node:stream";
import { maxDriveFileBytes, newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { Fault, fault, isUnavailable } from "../../kernel/errors.ts";
import { bytesLeft, quotaExceeded, readStorage } from "../files/index.ts";
import { contentTypeOf, takeHead } from "./content-type.ts";
import {
  type DriveFile,
  type DrivesDeps,
  driveNotFound,
  fileNotFound,
  type Location,
  type Precondition,
} from "./drive.ts";
import { filePath } from "./path.rules.ts";
import {
  claimLooseBlob,
  deleteLooseBlobRows,
  type FileRow,
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

/** Checks what it can before the bytes are read. */
export async function writeFile(
  deps: DrivesDeps,
  location: Location,
  body: Readable | Uint8Array,
  { signal, ...options }: WriteOptions,
): Promise<{ file: DriveFile; isNew: boolean }> {
  const { sql } = deps.database;
  const at = { ...location, path: filePath(location.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  const current = options.mode === "create" ? undefined : await selectFile(sql, at);
  if (options.mode === "replace") {
    if (!current) throw fileNotFound();
    options.precondition?.(current.etag);
  }
  const staged = await stageContent(deps, at.ownerId, body, { signal, replacedBytes: current?.size ?? 0 });
  try {
    return await placeContent(deps, at, staged, options);
  } catch (error) {
    await discardBlob(deps, staged.key);
    throw error;
  }
}

/** An upload may take six hours. Bytes without a file are collected after a day. */
const uploadMs = 6 * 3_600_000;
const collectAfterMs = 24 * 3_600_000;

/** Stored bytes without a file yet. They are placed, discarded, or collected after a day. */
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
 * Stores at most the bytes left in the quota; `placeContent` checks the quota again. A refused body is not destroyed,
 * except on abort: the caller drains or destroys it.
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
  // The body may fail before it is stored, without a reader. Later readers still receive the error.
  if (given instanceof Readable) given.on("error", () => {});
  const key = `drives/${newId("file")}`;
  const { head, body } = await takeHead(given);
  await insertLooseBlob(database.sql, key, new Date(clock.now().getTime() + collectAfterMs)).catch((error: unknown) => {
    throw orDiskFull(error, database.isFull());
  });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tookTooLong()), uploadMs).unref();
  const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal;
  try {
    // The real type is stored with the file, whose name may not be known yet.
    const contentType = "application/octet-stream";
    const { size, etag } = await blobs.put(key, body, { contentType, maxBytes, signal });
    return { key, size, etag, head };
  } catch (error) {
    // Bytes whose arrival is unknown are left to the collector. The first error is the one to report.
    if (!isUnavailable(error)) await deleteLooseBlobRows(database.sql, [key]).catch(() => {});
    const isBeyondQuota = maxBytes < maxDriveFileBytes && error instanceof Fault && error.type === "file_too_large";
    throw isBeyondQuota ? quotaExceeded(storage) : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Deletes a blob without a file, if its row still exists: otherwise a file has taken the blob (a commit whose answer was
 * lost). Errors are ignored, because the collector tries again.
 */
export async function discardBlob({ database, blobs, clock }: DrivesDeps, key: string): Promise<void> {
  try {
    if (!(await claimLooseBlob(database.sql, key, clock.now()))) return;
    await blobs.delete(key);
    await deleteLooseBlobRows(database.sql, [key]);
  } catch {
    // See above.
  }
}

export function tookTooLong() {
  return fault("service_unavailable", "The upload took too long. Try again.");
}

/** create: the path must be free; replace: a file must exist; put: either. */
export type WriteMode = "create" | "replace" | "put";

export interface PlaceOptions {
  mode: WriteMode;
  /** Used if the bytes and the name do not reveal the type. */
  declaredType?: string | undefined;
  precondition?: Precondition | undefined;
}

/**
 * Turns staged bytes into a file in one transaction: readers see the old or the new file, complete. Of concurrent writers
 * the last one wins. The quota is checked here, across all nodes. Refused bytes stay staged.
 */
export async function placeContent(
  deps: DrivesDeps,
  { ownerId, driveId, path: given }: Location,
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
    await checkTarget(tx, { driveId, path, mode, before, precondition });
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
    // A file that does not grow may be written above the quota: the plan may have become smaller.
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

async function checkTarget(
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
  if (before?.type === "directory") throw taken(`${path} is a directory`, path);
  if (before && mode === "create") throw taken(`A file exists at ${path}`, path);
  const above = before ? undefined : await selectFileAbove(tx, driveId, path);
  if (above !== undefined) throw taken(`${above} is a file, not a directory`, above);
}

function taken(msg: string, path: string) {
  return fault("conflict", msg, { loc: ["path"], ctx: { path } });
}
