import { type DrivesDeps, directoryNotFound, driveNotFound, type Place } from "./drive.ts";
import { treePath } from "./path.rules.ts";
import { deleteTreeRows, lockDrive, pruneDirectories, selectOccupant } from "./store.ts";

/** A tree of a hundred thousand files takes longer than a query usually may. */
const deadlineMs = 60_000;

/** A directory and everything below it, at once; the collector throws the bytes away. `/` empties the drive. */
export async function deleteTree(
  { database, clock }: DrivesDeps,
  { ownerId, driveId, path: given }: Place,
): Promise<{ files: number }> {
  const path = treePath(given);
  const files = await database.transaction(
    async (tx) => {
      if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
      if (path !== "/" && (await selectOccupant(tx, driveId, path))?.type !== "directory") throw directoryNotFound();
      const count = await deleteTreeRows(tx, driveId, path, clock.now());
      await pruneDirectories(tx, driveId, path);
      return count;
    },
    { deadlineMs },
  );
  return { files };
}
