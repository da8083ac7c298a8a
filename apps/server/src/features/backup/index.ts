export type { BackupSummary, KeyFile } from "./backup.ts";
export { type Archive, checkArchive } from "./check-archive.ts";
export { type RestoreDeps, restoreBackup } from "./restore-backup.ts";
export { hasTakenPlace } from "./store.ts";
export { type WrittenBackup, writeBackup } from "./write-backup.ts";
