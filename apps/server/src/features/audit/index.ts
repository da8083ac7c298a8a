export { type Acting, type Actor, actingAs, actorIs, anonymous, operator } from "./acting.ts";
export { deleteOldRecords } from "./delete-old-records.ts";
export { changedNames, originOf } from "./fields.rules.ts";
export type { AuditFilter, StoredRecord } from "./list-records.ts";
export { type Audit, openAudit, verifyAudit } from "./open-audit.ts";
export { type AuditEntry, actorIsUser, record, recordByOperator } from "./record.ts";
export { recordSettings, type SettingsState } from "./record-settings.ts";
