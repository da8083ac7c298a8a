export type { BackupSummary, KeyFile } from "./backup.ts";
export { type RestoreDeps, restoreBackup } from "./restore-backup.ts";
export { writeBackup } from "./write-backup.ts";
