import type { Readable } from "node:stream";
import { type DriveFile, type DrivesDeps, driveNotFound, fileNotFound, type Place } from "./drive.ts";
import { filePath } from "./path.rules.ts";
import { type PlaceOptions, placeContent } from "./place-content.ts";
import { discardBlob, stageContent } from "./stage-content.ts";
import { selectDrive, selectFile } from "./store.ts";

export interface WriteOptions extends PlaceOptions {
  signal?: AbortSignal | undefined;
}

/** Whoever would be refused anyway hears so before the bytes are read. */
export async function writeFile(
  deps: DrivesDeps,
  place: Place,
  body: Readable | Uint8Array,
  { signal, ...options }: WriteOptions,
): Promise<{ file: DriveFile; isNew: boolean }> {
  const { sql } = deps.database;
  const at = { ...place, path: filePath(place.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  const standing = options.mode === "create" ? undefined : await selectFile(sql, at);
  if (options.mode === "replace") {
    if (!standing) throw fileNotFound();
    options.precondition?.(standing.etag);
  }
  const staged = await stageContent(deps, at.ownerId, body, { signal, replacedBytes: standing?.size ?? 0 });
  try {
    return await placeContent(deps, at, staged, options);
  } catch (error) {
    await discardBlob(deps, staged.key);
    throw error;
  }
}
