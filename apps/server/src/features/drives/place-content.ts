import type { Transaction } from "../../engines/database/database.ts";
import { orDiskFull } from "../../kernel/disk-full.ts";
import { fault } from "../../kernel/errors.ts";
import { quotaExceeded, readStorage } from "../files/index.ts";
import { contentTypeOf } from "./content-type.ts";
import {
  type DriveFile,
  type DrivesDeps,
  driveNotFound,
  fileNotFound,
  type Place,
  type Precondition,
} from "./drive.ts";
import { filePath } from "./path.rules.ts";
import { discardBlob, type StagedContent, tookTooLong } from "./stage-content.ts";
import {
  type FileRow,
  insertFile,
  insertLooseBlob,
  lockDrive,
  type Occupant,
  selectFileAbove,
  selectOccupant,
  takeLooseBlob,
  updateFile,
} from "./store.ts";

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
