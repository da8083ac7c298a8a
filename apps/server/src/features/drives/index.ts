export { collectLooseBlobs, type DriveUpkeep, startDriveUpkeep } from "./collect-loose-blobs.ts";
export { type Drive, type DriveFile, type DrivesDeps, driveNotFound, type Item, type Precondition } from "./drive.ts";
export { markFiles } from "./index-marks.ts";
export { type Drives, openDrives, type WithinDrive } from "./open-drives.ts";
export { directoryPath, filePath, nameOf, treePath } from "./path.rules.ts";
export type { OpenedFile, Wanted } from "./read-file.ts";
export { lockDrive } from "./store.ts";
export type { StagedContent, WriteMode } from "./write-file.ts";
