import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { FilesDeps } from "./files-deps.ts";
import { acknowledge } from "./read-files.ts";
import {
  closeLink,
  deleteAwaiting,
  type FileRow,
  listAwaitingSince,
  listLinkedSince,
  markAwaitingAgain,
  patienceMillis,
} from "./store.ts";

const batch = 200;

/** What became of a row. One that is left is listed again. */
type Fate = "kept" | "dropped" | "left";

/**
 * Gives up what never arrived: links that nobody used, uploads and outputs whose process died. And looks for the last time
 * at what came by links that have run out: an external store takes uploads without telling us, so something else may have
 * come since it was counted. Called now and then, by any number of nodes. Answers how many rows need no other look, so
 * that the caller can come back soon as long as there are some, and how many of them it gave up. A row that cannot be
 * looked at does not keep it from the others; a store or a database that is away does.
 */
export async function sweepAbandonedFiles(deps: FilesDeps, now: Date, log: Log) {
  const before = new Date(now.getTime() - patienceMillis);
  const { sql } = deps.database;
  const awaiting = await listAwaitingSince(sql, before, batch);
  const linked = await listLinkedSince(sql, before, batch);
  const fates: Fate[] = [];
  for (const row of [...awaiting, ...linked]) {
    try {
      fates.push(await settle(deps, row, log));
      if (row.origin === "link") await closeLink(sql, row.key);
    } catch (error) {
      if (isOfType(error, "service_unavailable")) throw error;
      log.warn({ file: row.key, err: error }, "An abandoned file could not be looked at, it is tried again in an hour");
    }
  }
  return {
    looked: fates.filter((fate) => fate !== "left").length,
    dropped: fates.filter((fate) => fate === "dropped").length,
  };
}

async function settle(deps: FilesDeps, row: FileRow, log: Log): Promise<Fate> {
  const { database, blobs } = deps;
  // What came by a link is a file, looked at or not.
  const info = row.origin === "link" ? await statOrDamage(deps, row.key) : undefined;
  if (info instanceof Error) {
    // No other look would find more. Its owner may delete it, or the operator bring its bytes back.
    log.warn({ file: row.key, err: info }, "What came by an upload link cannot be read, it is left as it is");
    return row.state === "stored" ? "kept" : "left";
  }
  if (info && info.size <= row.maxBytes && (await isKept(acknowledge(deps, row, info)))) return "kept";
  if (row.state === "stored") {
    // Its bytes are lost, or this is another store than it was: no reason to forget the file as well.
    if (!info) return "kept";
    await markAwaitingAgain(database.sql, row);
  }
  await blobs.delete(row.key);
  await deleteAwaiting(database.sql, row.key);
  return "dropped";
}

/** What is wrong with an object that is there; a store that is away says nothing about it. */
async function statOrDamage({ blobs }: FilesDeps, key: string) {
  return blobs.stat(key).catch((error: Error) => {
    if (error instanceof Fault) throw error;
    return error;
  });
}

/** False where it is more than its owner may store: that is given up like what never came. */
async function isKept(acknowledged: Promise<unknown>): Promise<boolean> {
  try {
    await acknowledged;
    return true;
  } catch (error) {
    if (isOfType(error, "storage_quota_exceeded")) return false;
    throw error;
  }
}

function isOfType(error: unknown, type: Fault["type"]): boolean {
  return error instanceof Fault && error.type === type;
}
