import { Fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { bytesLeft, quotaExceeded, readStorage } from "./storage-quota.ts";
import { type Arrival, type FileRow, markAwaitingAgain, markStored } from "./store.ts";

/**
 * Refuses an upload beyond its user's quota before its bytes are read. The decision falls once they are stored, because
 * any number of uploads may be under way. The bytes that it replaces do not count.
 */
export async function refuseBeyondQuota(
  deps: FilesDeps,
  ownerId: string,
  bytes: number,
  replacedBytes = 0,
): Promise<void> {
  const storage = await readStorage(deps.database.sql, ownerId, deps.storageBytesPerUser);
  const left = bytesLeft({ ...storage, used: storage.used - replacedBytes });
  if (left !== undefined && Math.max(bytes, 1) > left) throw quotaExceeded(storage);
}

/**
 * Makes a file of bytes that have arrived. False when its row is gone: it was given up or deleted meanwhile. Beyond the
 * owner's quota the bytes are deleted and the file is refused. Its row awaits others, as it may be a link's, and is the
 * sweep's otherwise.
 */
export async function keepArrival(
  { database, blobs, storageBytesPerUser = 0 }: FilesDeps,
  { key, origin }: Pick<FileRow, "key" | "origin">,
  arrival: Arrival,
): Promise<boolean> {
  if (origin === "output") return (await markStored(database.sql, key, arrival)) !== undefined;
  // One statement, without a transaction, for the owners who have no quota.
  let ownerId = await markStored(database.sql, key, arrival, { unlessQuota: storageBytesPerUser });
  if (ownerId !== undefined) return true;
  try {
    await database.transaction(async (tx) => {
      ownerId = await markStored(tx, key, arrival);
      if (ownerId === undefined) return;
      const { used, allowed } = await readStorage(tx, ownerId, storageBytesPerUser);
      if (allowed !== undefined && used > allowed) throw quotaExceeded({ used: used - arrival.size, allowed });
    });
  } catch (error) {
    if (ownerId !== undefined && error instanceof Fault && error.type === "storage_quota_exceeded") {
      await markAwaitingAgain(database.sql, { ownerId, key });
      await blobs.delete(key);
    }
    throw error;
  }
  return ownerId !== undefined;
}
