import { type DrivesDeps, driveNotFound, fileNotFound, type Place, type Precondition } from "./drive.ts";
import { filePath } from "./path.rules.ts";
import { discardBlob } from "./stage-content.ts";
import { deleteFileRow, insertLooseBlob, lockDrive, pruneDirectories, selectOccupant } from "./store.ts";

/** The directories that it leaves empty go with it. */
export async function deleteFile(
  deps: DrivesDeps,
  { ownerId, driveId, path: given }: Place,
  { precondition }: { precondition?: Precondition | undefined } = {},
): Promise<void> {
  const path = filePath(given);
  const key = await deps.database.transaction(async (tx) => {
    if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
    const before = await selectOccupant(tx, driveId, path);
    if (before?.type !== "file") throw fileNotFound();
    precondition?.(before.etag);
    await deleteFileRow(tx, driveId, path);
    await insertLooseBlob(tx, before.blobKey, deps.clock.now());
    await pruneDirectories(tx, driveId, path);
    return before.blobKey;
  });
  await discardBlob(deps, key);
}
