import { Fault } from "../../kernel/errors.ts";
import { type FilesDeps, patienceMillis } from "./files-deps.ts";
import { acknowledge } from "./find-usable-file.ts";
import { deleteAwaiting, listAwaitingSince } from "./store.ts";

const batch = 200;

/**
 * Gives up what never arrived: links that nobody used, uploads and outputs whose process died. Called now and then, by
 * any number of nodes. Answers how many rows it looked at, so that the caller can come back soon after a full batch.
 */
export async function sweepAbandonedFiles(deps: FilesDeps, now: Date): Promise<number> {
  const before = new Date(now.getTime() - patienceMillis);
  const rows = await listAwaitingSince(deps.database.sql, before, batch);
  for (const row of rows) {
    // An external store takes uploads without telling us: what came by a link is a file, looked at or not.
    const info = row.origin === "link" ? await deps.blobs.stat(row.key) : undefined;
    if (info && info.size <= row.maxBytes && (await isKept(acknowledge(deps, row, info)))) continue;
    await deps.blobs.delete(row.key);
    await deleteAwaiting(deps.database.sql, row.key);
  }
  return rows.length;
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
