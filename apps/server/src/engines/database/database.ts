import type { ISql, TransactionSql } from "postgres";

/** What a query is written with: a tagged template, on the pool or inside a transaction. Fragments nest. */
export type Sql = ISql<Record<string, never>>;
export type Transaction = TransactionSql<Record<string, never>>;

/**
 * The database port. PostgreSQL is the only dialect; drivers differ in who runs the server (`embedded.ts` starts and
 * watches one under GANTRY_HOME, `external.ts` connects to DATABASE_URL).
 *
 * What must hold for every driver:
 * - every query has a deadline; when it passes, or the server is away, the query rejects with the fault
 *   `service_unavailable` (503, retryable). Nothing waits for ever, also on a server that is stalled and not gone;
 * - `transaction` commits when its function resolves and rolls back when it rejects;
 * - a notification sent with `NOTIFY` reaches every `listen`er of every process, also after a reconnect.
 */
export interface Database {
  readonly sql: Sql;
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ stop(): Promise<void> }>;
  /** True when a trivial query answers within a second. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}
