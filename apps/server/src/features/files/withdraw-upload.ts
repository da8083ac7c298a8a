import type { FilesDeps } from "./files-deps.ts";
import { parseS3Path } from "./s3-path.rules.ts";
import { deleteAwaiting, markAwaitingAgain } from "./store.ts";

/**
 * Takes back an upload whose request was refused after the file had arrived. The row goes last: whatever dies in between
 * leaves a row that the sweep finds.
 */
export async function withdrawUpload(
  { database, blobs }: FilesDeps,
  { ownerId, s3Path }: { ownerId: string; s3Path: string },
): Promise<void> {
  const { key } = parseS3Path(s3Path) ?? {};
  if (key === undefined) return;
  await markAwaitingAgain(database.sql, ownerId, key);
  await blobs.delete(key);
  await deleteAwaiting(database.sql, key);
}
