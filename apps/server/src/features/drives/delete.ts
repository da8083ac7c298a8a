import { fault } from "../../kernel/errors.ts";
import {
  type DrivesDeps,
  directoryNotFound,
  driveNotFound,
  fileNotFound,
  type Place,
  type Precondition,
} from "./drive.ts";
import { filePath, treePath } from "./path.rules.ts";
import {
  deleteDriveRow,
  deleteFileRow,
  deleteTreeRows,
  insertLooseBlob,
  lockDrive,
  pruneDirectories,
  selectDrive,
  selectOccupant,
} from "./store.ts";
import { discardBlob } from "./write-file.ts";

/** A tree of a hundred thousand files takes longer than a query usually may. */
const deadlineMs = 60_000;

/** With all its files; the collector throws the bytes away. A drive that agents use goes by force only. */
export async function deleteDrive(
  { database, clock, agentsUsingDrive }: DrivesDeps,
  { ownerId, driveId, force }: { ownerId: string; driveId: string; force: boolean },
): Promise<void> {
  if (!(await selectDrive(database.sql, ownerId, driveId))) throw driveNotFound();
  const agents = force ? [] : await agentsUsingDrive(ownerId, driveId);
  if (agents.length > 0) {
    const names = agents.map(({ name }) => JSON.stringify(name)).join(", ");
    const msg = `The drive is used by the agent${agents.length > 1 ? "s" : ""} ${names}; ?force=true deletes it anyway`;
    throw fault("conflict", msg, { ctx: { agents: agents.map(({ id, name }) => ({ id, name })) } });
  }
  await database.transaction(
    async (tx) => {
      if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
      await deleteDriveRow(tx, driveId, clock.now());
    },
    { deadlineMs },
  );
}

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
