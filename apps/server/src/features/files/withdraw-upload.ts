import { discardBytes } from "./delete-file.ts";
import type { FilesDeps } from "./files-deps.ts";
import { parseS3Path } from "./s3-path.rules.ts";
import { giveUpFile } from "./store.ts";

/** Takes back an upload whose request was refused after the file had arrived. */
export async function withdrawUpload(
  deps: FilesDeps,
  { ownerId, s3Path }: { ownerId: string; s3Path: string },
): Promise<void> {
  const { key } = parseS3Path(s3Path) ?? {};
  if (key === undefined) return;
  const now = deps.clock.now();
  await giveUpFile(deps.database.sql, { ownerId, key }, now);
  await discardBytes(deps, key, now);
}
