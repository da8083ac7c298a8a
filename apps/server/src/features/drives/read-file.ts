import type { Readable } from "node:stream";
import { largestItemPage } from "@gantry/wire";
import type { ByteRange } from "../../engines/blobs/blobs.ts";
import { fault } from "../../kernel/errors.ts";
import {
  type DriveFile,
  type DrivesDeps,
  directoryNotFound,
  driveNotFound,
  fileNotFound,
  type Item,
  type Page,
  type Place,
} from "./drive.ts";
import { directoryPath, filePath } from "./path.rules.ts";
import { directoryExists, selectDrive, selectFile, selectItems } from "./store.ts";

/** How often a file may be replaced between looking at it and opening it before we give up. */
const attempts = 5;

/** Which of a file's bytes are wanted. */
export type Wanted = ByteRange | "whole" | "nothing";

export interface OpenedFile {
  readonly file: DriveFile;
  /** Read to the end or destroyed by whoever asked for it. It stays whole while the file is replaced or deleted. */
  readonly body: Readable | undefined;
}

/** `choose` sees the version that its answer is about. */
export async function readFile(
  { database, blobs }: DrivesDeps,
  place: Place,
  choose: (file: DriveFile) => Wanted = () => "whole",
): Promise<OpenedFile> {
  const at = { ...place, path: filePath(place.path) };
  let missing: string | undefined;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await selectFile(database.sql, at);
    if (!row) throw (await selectDrive(database.sql, at.ownerId, at.driveId)) ? fileNotFound() : driveNotFound();
    const { blobKey, ...file } = row;
    const wanted = choose(file);
    if (wanted === "nothing") return { file, body: undefined };
    const opened = await blobs.open(blobKey, wanted === "whole" ? undefined : wanted);
    if (opened) return { file, body: opened.body };
    // A key is never used twice: the same one missing twice was not replaced, it is lost.
    if (missing === blobKey) throw new Error(`the content of the drive file ${blobKey} is not in the blob store`);
    missing = blobKey;
  }
  throw fault("service_unavailable", "The file is being replaced too often to be read");
}

/** What stands directly in a directory, ordered by name, byte by byte. The root is always there. */
export async function listItems(
  { database: { sql } }: DrivesDeps,
  place: Place,
  page: Page = { limit: largestItemPage, offset: 0 },
): Promise<{ items: Item[]; total: number }> {
  const at = { ...place, path: directoryPath(place.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  if (at.path !== "/" && !(await directoryExists(sql, at))) throw directoryNotFound();
  return selectItems(sql, at, page);
}
