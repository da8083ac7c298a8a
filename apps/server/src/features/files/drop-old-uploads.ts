import { everythingOf } from "../accounts/index.ts";
import { removeFile } from "./delete-file.ts";
import type { FilesDeps } from "./files-deps.ts";
import { listUploadsBefore } from "./store.ts";

const batch = 100;

/** Deletes some of what was uploaded before a moment. Fewer than a batch were all. */
export async function dropOldUploads(deps: FilesDeps, before: Date) {
  const old = await listUploadsBefore(deps.database.sql, before, batch);
  for (const { ownerId, id } of old) await removeFile(deps, everythingOf(ownerId), id);
  return { dropped: old.length, more: old.length === batch };
}
