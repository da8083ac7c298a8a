import { setTimeout as sleep } from "node:timers/promises";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { everythingOf, type Scope } from "../accounts/index.ts";
import type { FilesDeps } from "./files-deps.ts";
import {
  deleteFileRow,
  deleteOutputRows,
  forgetDeleted,
  insertDeleted,
  listDueDeleted,
  listUploadsBefore,
  lockOwnFile,
  mayArriveUntil,
  type OwnRow,
  postponeDeleted,
  selectOutputKeys,
} from "./store.ts";

/** How long an owner waits for a store that is slow: the file is gone already, its bytes go when they can. */
const patienceMs = 1_000;

/**
 * Deletes a file of the owner. What was accepted does not need it: a prediction has taken its input, a queued one has a
 * copy. Only an output of one that has not ended is refused, because its result will name it.
 */
export async function deleteFile(deps: FilesDeps, scope: Scope, id: string): Promise<void> {
  const row = await takeAway(deps, scope, id);
  if (!row) throw fault("not_found", "File not found");
  await Promise.race([discardBytes(deps, row.key, mayArriveUntil(row)), sleep(patienceMs, undefined, { ref: false })]);
}

/** The same where it may be gone already, for who has time until the bytes are gone too. */
export async function removeFile(deps: FilesDeps, scope: Scope, id: string): Promise<void> {
  const row = await takeAway(deps, scope, id);
  if (row) await discardBytes(deps, row.key, mayArriveUntil(row));
}

/** Undefined where there is none. A row for the bytes then takes the place of the file's own. */
async function takeAway(deps: FilesDeps, scope: Scope, id: string): Promise<OwnRow | undefined> {
  return deps.database.transaction(async (tx) => {
    const found = await lockOwnFile(tx, scope, id);
    if (!found) return undefined;
    if (found.livePredictionId !== null) {
      throw fault("conflict", `The file is an output of the prediction ${found.livePredictionId}, which has not ended`);
    }
    await deleteFileRow(tx, id);
    await insertDeleted(tx, found.key, deps.clock.now());
    return found;
  });
}

/** A failure is no one's concern: the row of what was deleted still stands then, for the collector. */
export async function discardBytes({ database, blobs, clock }: FilesDeps, key: string, until: Date): Promise<void> {
  try {
    await blobs.delete(key);
    if (until > clock.now()) await postponeDeleted(database.sql, key, until);
    else await forgetDeleted(database.sql, [key]);
  } catch {
    // As said above.
  }
}

const batch = 200;

/** Deletes some of what was uploaded before a moment. Fewer than a batch were all. */
export async function dropOldUploads(deps: FilesDeps, before: Date) {
  const old = await listUploadsBefore(deps.database.sql, before, batch);
  for (const { ownerId, id } of old) await removeFile(deps, everythingOf(ownerId), id);
  return { dropped: old.length, more: old.length === batch };
}

/**
 * Throws away the bytes of deleted files that are still there: a process died, the store was away, or a link brought them
 * once more. Called now and then, by any number of nodes. Answers how many it looked at; fewer than a batch were all.
 */
export async function collectDeletedFiles({ database, blobs }: FilesDeps, now: Date) {
  const keys = await listDueDeleted(database.sql, now, batch);
  for (const key of keys) {
    await blobs.delete(key);
    await forgetDeleted(database.sql, [key]);
  }
  return { dropped: keys.length, more: keys.length === batch };
}

const deletedTogether = 8;

/** Deletes the output files of predictions. Bytes go first: after a failure the rows are still there to try again. */
export async function deleteOutputs(
  tx: Transaction,
  blobs: BlobStore,
  predictionIds: readonly string[],
): Promise<void> {
  const keys = await selectOutputKeys(tx, predictionIds);
  for (let at = 0; at < keys.length; at += deletedTogether) {
    await Promise.all(keys.slice(at, at + deletedTogether).map((key) => blobs.delete(key)));
  }
  await deleteOutputRows(tx, predictionIds);
}
