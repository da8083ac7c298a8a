import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import { collectLooseBlobs } from "./collect-loose-blobs.ts";
import {
  type DrivesDeps,
  directoryNotFound,
  driveNotFound,
  fileNotFound,
  type Location,
  type Precondition,
} from "./drive.ts";
import { filePath, treePath } from "./path.rules.ts";
import {
  deleteDriveRow,
  deleteFileRow,
  deleteTreeRows,
  insertLooseBlob,
  lockDrive,
  lockDriveOf,
  pruneDirectories,
  selectDrive,
  selectOccupant,
} from "./store.ts";
import { discardBlob } from "./write-file.ts";

/** A tree of a hundred thousand files takes longer than the default deadline. */
const deadlineMs = 60_000;

/** Deletes a drive with its files; the collector deletes the bytes. A drive that agents use needs `force`. */
export async function deleteDrive(
  { database, clock, agentsUsingDrive }: DrivesDeps,
  { ownerId, driveId, force }: { ownerId: string; driveId: string; force: boolean },
): Promise<void> {
  const drive = await selectDrive(database.sql, ownerId, driveId);
  if (!drive) throw driveNotFound();
  const agents = force ? [] : await agentsUsingDrive(ownerId, driveId);
  if (agents.length > 0) {
    const names = agents.map(({ name }) => JSON.stringify(name)).join(", ");
    const msg = `The drive is used by the agent${agents.length > 1 ? "s" : ""} ${names}. Delete it anyway with ?force=true.`;
    throw fault("conflict", msg, { ctx: { agents: agents.map(({ id, name }) => ({ id, name })) } });
  }
  await database.transaction(
    async (tx) => {
      if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
      await deleteDriveRow(tx, driveId, clock.now());
      const { name, description } = drive;
      const object = { id: driveId, name };
      await record(tx, { action: "drive.delete", object, ownerId, before: { name, description } });
    },
    { deadlineMs },
  );
}

/** Deletes a drive of an account that is being deleted. Returns how many: none are left after none. */
export async function deleteSomeDrivesOf(deps: DrivesDeps, ownerId: string): Promise<number> {
  const { database, clock } = deps;
  const count = await database.transaction(
    async (tx) => {
      const id = await lockDriveOf(tx, ownerId);
      if (id !== undefined) await deleteDriveRow(tx, id, clock.now());
      return id === undefined ? 0 : 1;
    },
    { deadlineMs },
  );
  // The collector deletes what is more than a batch, or fails here.
  if (count > 0) await collectLooseBlobs(deps).catch(() => {});
  return count;
}

/** Deletes a directory with everything in it; the collector deletes the bytes. `/` empties the drive. */
export async function deleteTree(
  { database, clock }: DrivesDeps,
  { ownerId, driveId, path: given }: Location,
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

/** Also deletes directories that become empty. */
export async function deleteFile(
  deps: DrivesDeps,
  { ownerId, driveId, path: given }: Location,
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
