import { Fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";
import { type Arrival, type FileRow, markAwaitingAgain, markStored, selectUploadTotal } from "./store.ts";
import { hasRoomFor, noRoomForUpload } from "./upload-room.rules.ts";

/**
 * Refuses what is too much for its user before its bytes are taken. It is decided when they are there, because any number
 * of uploads may be under way. What it replaces makes room for it.
 */
export async function refuseWithoutRoom(
  deps: FilesDeps,
  ownerId: string,
  bytes: number,
  replacedBytes = 0,
): Promise<void> {
  const { uploadBytesPerUser: bound = 0, database } = deps;
  if (bound === 0) return;
  const room = { stored: await selectUploadTotal(database.sql, ownerId), bound };
  if (!hasRoomFor({ ...room, stored: room.stored - replacedBytes }, bytes)) throw noRoomForUpload(room);
}

/**
 * Makes a file of bytes that have arrived. False when its row is gone: it was given up or deleted meanwhile. Where the
 * uploads of its owner would take up more than they may, the bytes are thrown away and it is refused: the row awaits
 * others, as it may be a link's, and is the sweep's otherwise.
 */
export async function keepArrival(
  { database, blobs, uploadBytesPerUser: bound = 0 }: FilesDeps,
  { key, origin }: Pick<FileRow, "key" | "origin">,
  arrival: Arrival,
): Promise<boolean> {
  if (bound === 0 || origin === "output") return (await markStored(database.sql, key, arrival)) !== undefined;
  let ownerId: string | undefined;
  try {
    await database.transaction(async (tx) => {
      ownerId = await markStored(tx, key, arrival);
      if (ownerId === undefined) return;
      // Counting it has locked the total: of uploads that end at once each sees those before it.
      const stored = await selectUploadTotal(tx, ownerId);
      if (stored > bound) throw noRoomForUpload({ stored: stored - arrival.size, bound });
    });
  } catch (error) {
    if (ownerId !== undefined && error instanceof Fault && error.type === "storage_full") {
      await markAwaitingAgain(database.sql, { ownerId, key });
      await blobs.delete(key);
    }
    throw error;
  }
  return ownerId !== undefined;
}
