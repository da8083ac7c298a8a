import { setTimeout as sleep } from "node:timers/promises";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { everythingOf, type Scope } from "../accounts/index.ts";
import type { FilesDeps } from "./files-deps.ts";
import {
  deleteDeletedRows,
  deleteFileRow,
  deleteOutputRows,
  insertDeleted,
  listDueDeleted,
  listIdsOf,
  listUploadsBefore,
  lockOwnFile,
  mayArriveUntil,
  type OwnRow,
  postponeDeleted,
  selectOutputKeys,
} from "./store.ts";

/** How long a request waits for a slow store. The collector deletes the bytes later. */
const waitMs = 1_000;

/**
 * Accepted predictions have a copy of their input, so inputs may be deleted. An output of an active prediction may not: its
 * result will refer to it.
 */
export async function deleteFile(deps: FilesDeps, scope: Scope, id: string): Promise<void> {
  const row = await replaceByDeleted(deps, scope, id);
  if (!row) throw fault("not_found", "File not found");
  await Promise.race([discardBytes(deps, row.key, mayArriveUntil(row)), sleep(waitMs, undefined, { ref: false })]);
}

/** For retention and deleted accounts: a missing file is fine, and it waits until the bytes are deleted. */
export async function removeFile(deps: FilesDeps, scope: Scope, id: string): Promise<void> {
  const row = await replaceByDeleted(deps, scope, id);
  if (row) await discardBytes(deps, row.key, mayArriveUntil(row));
}

/** Replaces the file's row by a row in `deleted_files`. Undefined if the file does not exist. */
async function replaceByDeleted(deps: FilesDeps, scope: Scope, id: string): Promise<OwnRow | undefined> {
  return deps.database.transaction(async (tx) => {
    const found = await lockOwnFile(tx, scope, id);
    if (!found) return undefined;
    if (found.livePredictionId !== null) {
      throw fault(
        "conflict",
        `The file is an output of prediction ${found.livePredictionId}, which is still active. Cancel it or wait for its end.`,
      );
    }
    if (found.liveBatchId !== null) {
      throw fault(
        "conflict",
        `The file is the input of ${found.liveBatchId}, which is still active. Cancel the batch or wait for its end.`,
      );
    }
    await deleteFileRow(tx, id);
    await insertDeleted(tx, found.key, deps.clock.now());
    return found;
  });
}

/** Errors are ignored: the row in `deleted_files` stays, and the collector tries again. */
export async function discardBytes({ database, blobs, clock }: FilesDeps, key: string, until: Date): Promise<void> {
  try {
    await blobs.delete(key);
    if (until > clock.now()) await postponeDeleted(database.sql, key, until);
    else await deleteDeletedRows(database.sql, [key]);
  } catch {
    // See above.
  }
}

const batch = 200;

/** Deletes a batch of old uploads. */
export async function dropOldUploads(deps: FilesDeps, before: Date) {
  const old = await listUploadsBefore(deps.database.sql, before, batch);
  for (const { ownerId, id } of old) await removeFile(deps, everythingOf(ownerId), id);
  return { dropped: old.length, more: old.length === batch };
}

const deletedTogether = 8;

/** Deletes files of an account that is being deleted. Returns how many: none are left after none. */
export async function deleteSomeOf(deps: FilesDeps, ownerId: string): Promise<number> {
  const ids = await listIdsOf(deps.database.sql, ownerId, batch);
  for (let at = 0; at < ids.length; at += deletedTogether) {
    const some = ids.slice(at, at + deletedTogether);
    await Promise.all(some.map((id) => removeFile(deps, everythingOf(ownerId), id)));
  }
  return ids.length;
}

/**
 * Deletes bytes of deleted files that are still in the store: a process died, the store was unavailable, or a link
 * uploaded them again. Any number of nodes may run it.
 */
export async function collectDeletedFiles({ database, blobs }: FilesDeps, now: Date) {
  const keys = await listDueDeleted(database.sql, now, batch);
  for (const key of keys) {
    await blobs.delete(key);
    await deleteDeletedRows(database.sql, [key]);
  }
  return { dropped: keys.length, more: keys.length === batch };
}

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
