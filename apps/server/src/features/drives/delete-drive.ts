import { fault } from "../../kernel/errors.ts";
import { type DrivesDeps, driveNotFound } from "./drive.ts";
import { deleteDriveRow, lockDrive, selectDrive } from "./store.ts";

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
