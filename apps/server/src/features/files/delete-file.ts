import { fault } from "../../kernel/errors.ts";
import { type FilesDeps, mayArriveUntil } from "./files-deps.ts";
import { deleteFileRow, forgetDeleted, insertDeleted, lockOwnFile, type OwnRow, postponeDeleted } from "./store.ts";

/**
 * Deletes a file of the owner. What was accepted does not need it: a prediction has taken its input, a queued one has a
 * copy. Only an output of one that has not ended is refused, because its result will name it.
 */
export async function deleteFile(deps: FilesDeps, ownerId: string, id: string): Promise<void> {
  if (!(await removeFile(deps, ownerId, id))) throw fault("not_found", "File not found");
}

/** The same where it may be gone already. Answers whether it was there. */
export async function removeFile(deps: FilesDeps, ownerId: string, id: string): Promise<boolean> {
  const row = await deps.database.transaction(async (tx) => {
    const found = await lockOwnFile(tx, ownerId, id);
    if (!found) return undefined;
    if (found.livePredictionId !== null) {
      throw fault("conflict", `The file is an output of the prediction ${found.livePredictionId}, which has not ended`);
    }
    await deleteFileRow(tx, id);
    await insertDeleted(tx, found.key, deps.clock.now());
    return found;
  });
  if (row) await discardBytes(deps, row);
  return row !== undefined;
}

/** A failure is no one's concern: the row of what was deleted still stands then, for the collector. */
async function discardBytes({ database, blobs, clock }: FilesDeps, row: OwnRow): Promise<void> {
  try {
    await blobs.delete(row.key);
    const until = mayArriveUntil(row);
    if (until > clock.now()) await postponeDeleted(database.sql, row.key, until);
    else await forgetDeleted(database.sql, [row.key]);
  } catch {
    // As said above.
  }
}
