/** A document for a column or parameter of type jsonb. */
export interface Json {
  readonly json: string;
}

/** Names of tables or columns, inside a query. */
export interface Identifiers {
  readonly text: string;
}

export type Value = string | number | bigint | boolean | Date | Uint8Array | null | Json | readonly Value[];
/** A query inside another becomes part of its text. */
export type Part = Value | Identifiers | Query<unknown>;

export type Rows<T> = T & {
  /** Rows that were read or changed. */
  readonly count: number;
};

/** Runs when first awaited, or by `execute`. A query inside another does not run. */
export interface Query<T> extends Promise<Rows<T>> {
  execute(): this;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns of an untyped query are unknown
type AnyRow = Record<string, any>;

/** A tagged template for queries, on the pool or inside a transaction. */
export interface Sql {
  (...names: string[]): Identifiers;
  <T extends readonly unknown[] = AnyRow[]>(strings: TemplateStringsArray, ...parts: readonly Part[]): Query<T>;
  json(value: unknown): Json;
  /** Runs the text unchanged and unprepared: one or several statements. */
  unsafe<T extends readonly unknown[] = AnyRow[]>(text: string): Query<T>;
  notify(channel: string, payload: string): Query<AnyRow[]>;
}

export interface Transaction extends Sql {
  /** If `work` rejects, only its own changes are rolled back. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

export interface PoolFigures {
  idle: number;
  busy: number;
  /** Queries and transactions without a connection. */
  waiting: number;
}

export interface TransactionOptions {
  /** For each statement, if the usual deadline is too short (migrations, rollups). */
  deadlineMs?: number;
}

/**
 * The database port. PostgreSQL is the only dialect. Drivers differ in how the server is run: `embedded.ts` starts and
 * watches one under GANTRY_HOME, `external.ts` connects to DATABASE_URL.
 *
 * Every driver guarantees:
 * - every query has a deadline, also on a stalled server. After the deadline, or without a server, the query rejects with
 *   the fault `service_unavailable` (503, retryable). Whether it took effect is then unknown; the same is true of a
 *   `transaction` whose commit was not answered;
 * - a full disk, a read-only server and missing privileges are the same fault with different texts. `isFull` stays true
 *   until the server has disk space again;
 * - `transaction` commits when its function resolves and rolls back when it rejects;
 * - `NOTIFY` reaches every `listen`er of every process, also after a reconnect. Notifications sent in between are lost, so
 *   `onReconnect` must look for changes.
 *
 * Types: int8 is a number (a value beyond 2^53 is an error), numeric a string, timestamptz a Date, jsonb an object.
 */
export interface Database {
  readonly sql: Sql;
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` on a dedicated connection without a transaction, for statements that do not allow one. The connection is
   * closed afterwards, which drops its settings and locks.
   */
  session<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<{ stop(): Promise<void> }>;
  /** The server answers within a second, accepts writes, grants access to the tables, and its disk is not full. */
  ready(): Promise<boolean>;
  /** The server reported a full disk and no write has succeeded since. */
  isFull(): boolean;
  figures(): PoolFigures;
  /** Waits a bounded time for running queries, then closes every connection. Later queries are refused. */
  close(): Promise<void>;
}

export interface OpenedDatabase extends Database {
  /** The reason why the last call of `ready` returned false. */
  trouble(): Trouble | undefined;
}

/** `read-only`: the server refuses writes, as a standby does. `denied`: the role lacks privileges. */
export type Trouble = "away" | "login refused" | "no connection left" | "read-only" | "denied" | "full";
