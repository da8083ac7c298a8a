import type { Readable } from "node:stream";
import { type DriveFile, type DrivesDeps, driveNotFound, fileNotFound, type Place } from "./drive.ts";
import { filePath } from "./path.rules.ts";
import { placeContent, type WriteMode } from "./place-content.ts";
import { discardBlob, stageContent } from "./stage-content.ts";
import { selectDrive, selectFile } from "./store.ts";

export interface WriteOptions {
  mode: WriteMode;
  /** What the sender says the content is; the bytes and the name say more. */
  declaredType?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Whoever would be refused anyway hears so before the bytes are read. */
export async function writeFile(
  deps: DrivesDeps,
  place: Place,
  body: Readable | Uint8Array,
  { mode, declaredType, signal }: WriteOptions,
): Promise<{ file: DriveFile; isNew: boolean }> {
  const { sql } = deps.database;
  const at = { ...place, path: filePath(place.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  if (mode === "replace" && !(await selectFile(sql, at))) throw fileNotFound();
  const staged = await stageContent(deps, body, { signal });
  try {
    return await placeContent(deps, at, staged, { mode, declaredType });
  } catch (error) {
    await discardBlob(deps, staged.key);
    throw error;
  }
}
