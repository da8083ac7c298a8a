import { Fault } from "../../kernel/errors.ts";
import { type FilesDeps, patienceMillis } from "./files-deps.ts";
import { acknowledge } from "./find-usable-file.ts";
import {
  closeLink,
  deleteAwaiting,
  type FileRow,
  listAwaitingSince,
  listLinkedSince,
  markAwaitingAgain,
} from "./store.ts";

const batch = 200;

/**
 * Gives up what never arrived: links that nobody used, uploads and outputs whose process died. And looks for the last time
 * at what came by links that have run out: an external store takes uploads without telling us, so something else may have
 * come since it was counted. Called now and then, by any number of nodes. Answers how many rows it looked at, so that the
 * caller can come back soon after a full batch.
 */
export async function sweepAbandonedFiles(deps: FilesDeps, now: Date): Promise<number> {
  const before = new Date(now.getTime() - patienceMillis);
  const { sql } = deps.database;
  const awaiting = await listAwaitingSince(sql, before, batch);
  const linked = await listLinkedSince(sql, before, batch);
  for (const row of [...awaiting, ...linked]) {
    await settle(deps, row);
    if (row.origin === "link") await closeLink(sql, row.key);
  }
  return awaiting.length + linked.length;
}

async function settle(deps: FilesDeps, row: FileRow): Promise<void> {
  const { database, blobs } = deps;
  // What came by a link is a file, looked at or not.
  const info = row.origin === "link" ? await blobs.stat(row.key) : undefined;
  if (info && info.size <= row.maxBytes && (await isKept(acknowledge(deps, row, info)))) return;
  if (row.state === "stored") {
    // Its bytes are lost, or this is another store than it was: no reason to forget the file as well.
    if (!info) return;
    await markAwaitingAgain(database.sql, row);
  }
  await blobs.delete(row.key);
  await deleteAwaiting(database.sql, row.key);
}

/** False where it is more than its owner may store: that is given up like what never came. */
async function isKept(acknowledged: Promise<unknown>): Promise<boolean> {
  try {
    await acknowledged;
    return true;
  } catch (error) {
    if (error instanceof Fault && error.type === "storage_full") return false;
    throw error;
  }
}
