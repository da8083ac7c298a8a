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
  type Location,
  type Page,
} from "./drive.ts";
import { directoryPath, filePath } from "./path.rules.ts";
import { directoryExists, type FileRow, selectDrive, selectFile, selectFilesAfter, selectItems } from "./store.ts";

/** A file may be replaced between the query and opening its blob. */
const attempts = 5;

export type Wanted = ByteRange | "whole" | "nothing";

export interface OpenedFile {
  readonly file: DriveFile;
  /** The caller must consume or destroy it. Stays complete while the file is replaced or deleted. */
  readonly body: Readable | undefined;
}

/** `choose` receives the version that is read. */
export async function readFile(
  { database, blobs }: DrivesDeps,
  location: Location,
  choose: (file: DriveFile) => Wanted = () => "whole",
): Promise<OpenedFile> {
  const at = { ...location, path: filePath(location.path) };
  let missing: string | undefined;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await selectFile(database.sql, at);
    if (!row) throw (await selectDrive(database.sql, at.ownerId, at.driveId)) ? fileNotFound() : driveNotFound();
    const { blobKey, ...file } = row;
    const wanted = choose(file);
    if (wanted === "nothing") return { file, body: undefined };
    const opened = await blobs.open(blobKey, wanted === "whole" ? undefined : wanted);
    if (opened) return { file, body: opened.body };
    // Keys are unique: if the same one is missing twice, the blob is lost.
    if (missing === blobKey) throw new Error(`blob ${blobKey} of a drive file is missing`);
    missing = blobKey;
  }
  throw fault("service_unavailable", "The file is being replaced too often. Try again.");
}

const exportedAtOnce = 500;

export interface FileWithContent {
  file: DriveFile;
  /** Undefined if it was deleted or replaced meanwhile. The reader consumes or destroys the body. */
  open(): Promise<{ size: number; body: Readable } | undefined>;
}

/** All files of a drive, sorted by path. */
export async function* exportFiles(
  { database, blobs }: DrivesDeps,
  { ownerId, driveId }: Omit<Location, "path">,
): AsyncGenerator<FileWithContent> {
  for (let after = ""; ; ) {
    const rows: FileRow[] = await selectFilesAfter(database.sql, { ownerId, driveId, after }, exportedAtOnce);
    for (const { blobKey, ...file } of rows) {
      const open = async () => {
        const opened = await blobs.open(blobKey);
        return opened && { size: opened.info.size, body: opened.body };
      };
      yield { file, open };
    }
    if (rows.length < exportedAtOnce) return;
    after = rows.at(-1)?.path ?? after;
  }
}

/** Items directly in a directory, in byte order of their names. */
export async function listItems(
  { database: { sql } }: DrivesDeps,
  location: Location,
  page: Page = { limit: largestItemPage, offset: 0 },
): Promise<{ items: Item[]; total: number }> {
  const at = { ...location, path: directoryPath(location.path) };
  if (!(await selectDrive(sql, at.ownerId, at.driveId))) throw driveNotFound();
  if (at.path !== "/" && !(await directoryExists(sql, at))) throw directoryNotFound();
  return selectItems(sql, at, page);
}
