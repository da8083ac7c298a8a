import { Fault, isUnavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { FilesDeps } from "./files-deps.ts";
import { acknowledge } from "./read-files.ts";
import {
  arrivalMs,
  closeLink,
  deleteAwaiting,
  type FileRow,
  listAwaitingSince,
  listLinkedSince,
  markAwaitingAgain,
} from "./store.ts";

const batch = 200;

/** A row that is left is listed again. */
type Outcome = "kept" | "dropped" | "left";

/**
 * Deletes files that never arrived: unused links, and uploads and outputs whose process died. Checks files of expired
 * links once more, because an external store accepts uploads without notice. Any number of nodes may run it. `looked`
 * counts rows that need no further check. A row that fails is skipped; an unavailable store or database ends the pass.
 */
export async function sweepAbandonedFiles(deps: FilesDeps, now: Date, log: Log) {
  const before = new Date(now.getTime() - arrivalMs);
  const { sql } = deps.database;
  const awaiting = await listAwaitingSince(sql, before, batch);
  const linked = await listLinkedSince(sql, before, batch);
  const outcomes: Outcome[] = [];
  for (const row of [...awaiting, ...linked]) {
    try {
      outcomes.push(await settle(deps, row, log));
      if (row.origin === "link") await closeLink(sql, row.key);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.warn({ file: row.key, err: error }, "Failed to check an abandoned file. Trying again in an hour.");
    }
  }
  return {
    looked: outcomes.filter((outcome) => outcome !== "left").length,
    dropped: outcomes.filter((outcome) => outcome === "dropped").length,
  };
}

async function settle(deps: FilesDeps, row: FileRow, log: Log): Promise<Outcome> {
  const { database, blobs } = deps;
  // An upload by link counts as a file even before its first check.
  const info = row.origin === "link" ? await statOrDamage(deps, row.key) : undefined;
  if (info instanceof Error) {
    // Another check would fail too. The owner may delete the file, or the operator may restore its bytes.
    log.warn({ file: row.key, err: info }, "Cannot read an upload, so it stays unchecked");
    return row.state === "stored" ? "kept" : "left";
  }
  if (info && info.size <= row.maxBytes && (await isKept(acknowledge(deps, row, info)))) return "kept";
  if (row.state === "stored") {
    // The bytes are lost, or this is a different store: keep the file's row.
    if (!info) return "kept";
    await markAwaitingAgain(database.sql, row);
  }
  await blobs.delete(row.key);
  await deleteAwaiting(database.sql, row.key);
  return "dropped";
}

/** Returns the error of a damaged object. Throws if the store is unavailable. */
async function statOrDamage({ blobs }: FilesDeps, key: string) {
  return blobs.stat(key).catch((error: Error) => {
    if (error instanceof Fault) throw error;
    return error;
  });
}

/** False if the file exceeds its owner's quota. */
async function isKept(acknowledged: Promise<unknown>): Promise<boolean> {
  try {
    await acknowledged;
    return true;
  } catch (error) {
    if (error instanceof Fault && error.type === "storage_quota_exceeded") return false;
    throw error;
  }
}
