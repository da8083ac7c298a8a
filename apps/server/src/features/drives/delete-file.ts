import { type DrivesDeps, driveNotFound, fileNotFound, type Place } from "./drive.ts";
import { filePath } from "./path.rules.ts";
import { discardBlob } from "./stage-content.ts";
import { deleteFileRow, insertLooseBlob, lockDrive, pruneDirectories } from "./store.ts";

/** The directories that it leaves empty go with it. */
export async function deleteFile(deps: DrivesDeps, { ownerId, driveId, path: given }: Place): Promise<void> {
  const path = filePath(given);
  const key = await deps.database.transaction(async (tx) => {
    if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
    const held = await deleteFileRow(tx, driveId, path);
    if (held === undefined) throw fileNotFound();
    await insertLooseBlob(tx, held, deps.clock.now());
    await pruneDirectories(tx, driveId, path);
    return held;
  });
  await discardBlob(deps, key);
}
