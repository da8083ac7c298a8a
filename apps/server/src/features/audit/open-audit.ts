import type { AuditReport, SignInWay } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { type AuditFilter, exportRecords, listRecords, type Range, type StoredRecord } from "./list-records.ts";
import { createRefusedSignIns } from "./refused-sign-ins.ts";
import { verifyChain } from "./verify-chain.ts";

export interface Audit {
  list(filter: AuditFilter, range: Range): Promise<{ entries: StoredRecord[]; total: number }>;
  /** In portions, newest first. */
  export(filter: AuditFilter): AsyncGenerator<StoredRecord[]>;
  /** `name`: the username that was given. */
  signInRefused(by: SignInWay, name?: string): Promise<void>;
}

export function openAudit({ database }: { database: Database }): Audit {
  return {
    list: (filter, range) => listRecords(database, filter, range),
    export: (filter) => exportRecords(database, filter),
    signInRefused: createRefusedSignIns(database),
  };
}

const deadlineMs = 3_600_000;

/** Reads one snapshot, so that records may be written meanwhile. */
export function verifyAudit(database: Database, notedHash?: string): Promise<AuditReport> {
  return database.transaction(
    async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`;
      return verifyChain(tx, notedHash);
    },
    { deadlineMs },
  );
}
