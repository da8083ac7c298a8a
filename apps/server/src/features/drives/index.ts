export { collectLooseBlobs, type DriveUpkeep, startDriveUpkeep } from "./collect-loose-blobs.ts";
export type { Drive, DriveFile, DrivesDeps, Item, Precondition } from "./drive.ts";
export { type Drives, openDrives } from "./open-drives.ts";
export { directoryPath, filePath, nameOf, treePath } from "./path.rules.ts";
export type { OpenedFile, Wanted } from "./read-file.ts";
export type { StagedContent, WriteMode } from "./write-file.ts";
