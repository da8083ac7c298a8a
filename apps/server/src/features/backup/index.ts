export type { KeyFile } from "./backup.ts";
export { type Archive, checkArchive } from "./check-archive.ts";
export { type RestoreDeps, type RestoredBackup, restoreBackup } from "./restore-backup.ts";
export { hasTakenPlace } from "./store.ts";
export { type BackupDeps, type WrittenBackup, writeBackup } from "./write-backup.ts";
