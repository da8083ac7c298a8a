/** A document for a column or parameter of type jsonb. */
export interface Json {
  readonly json: string;
}

/** Names of tables or columns, inside a query. */
export interface Identifiers {
  readonly text: string;
}

/** What can be sent to the server. A query also takes itself apart: one inside another is a part of its text. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null | Json | readonly Value[];
export type Part = Value | Identifiers | Query<unknown>;

export type Rows<T> = T & {
  /** Rows that were read or changed. */
  readonly count: number;
};

/** Runs when it is first awaited, or by `execute`; one that is a part of another never does. */
export interface Query<T> extends Promise<Rows<T>> {
  execute(): this;
}

// biome-ignore lint/suspicious/noExplicitAny: a query that states no type leaves its columns to the reader
type AnyRow = Record<string, any>;

/** What a query is written with: a tagged template, on the pool or inside a transaction. */
export interface Sql {
  (...names: string[]): Identifiers;
  <T extends readonly unknown[] = AnyRow[]>(strings: TemplateStringsArray, ...parts: readonly Part[]): Query<T>;
  json(value: unknown): Json;
  /** A text as it is, of one or several statements. Nothing is prepared for it. */
  unsafe<T extends readonly unknown[] = AnyRow[]>(text: string): Query<T>;
  notify(channel: string, payload: string): Query<AnyRow[]>;
}

export interface Transaction extends Sql {
  /** A part that can fail alone: when `work` rejects, only what it did is rolled back. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Of the pool of connections, at this moment. */
export interface PoolFigures {
  idle: number;
  busy: number;
  /** Queries and transactions without a connection. */
  waiting: number;
}

export interface TransactionOptions {
  /** The deadline of each statement inside, where the usual one is too short (migrations, rollups). */
  deadlineMs?: number;
}

/**
 * The database port. PostgreSQL is the only dialect; drivers differ in who runs the server (`embedded.ts` starts and
 * watches one under GANTRY_HOME, `external.ts` connects to DATABASE_URL).
 *
 * What must hold for every driver:
 * - every query has a deadline; when it passes, or the server is away, the query rejects with the fault
 *   `service_unavailable` (503, retryable). Nothing waits for ever, also on a server that is stalled and not gone.
 *   Whether such a query took effect is then unknown, as it is for a `transaction` whose commit was not answered;
 * - a server without room for what is to be stored is the same fault, with another sentence: `isFull` until it has some;
 *   so is one that is read-only, or denies our role a right, with sentences of their own;
 * - `transaction` commits when its function resolves and rolls back when it rejects;
 * - a notification sent with `NOTIFY` reaches every `listen`er of every process, also after a reconnect. What was sent
 *   while a listener was away is lost: `onReconnect` then tells it to look for itself.
 *
 * Types: int8 is a number (a value beyond 2^53 is an error), numeric a string, timestamptz a Date, jsonb an object.
 */
export interface Database {
  readonly sql: Sql;
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * A connection for `work` alone, outside any transaction: for the few statements that refuse to be in one. It is closed
   * afterwards, and with it go all its settings and locks.
   */
  session<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<{ stop(): Promise<void> }>;
  /**
   * True when a trivial query answers within a second, and the server takes writes, lets us at the tables and is not known
   * to have no room.
   */
  ready(): Promise<boolean>;
  /** An answer said that the server's disk is full, and it has not been shown since that there is room again. */
  isFull(): boolean;
  figures(): PoolFigures;
  /** Lets running queries end (bounded), then closes every connection. Later queries are refused. */
  close(): Promise<void>;
}

/** For whoever opened it and tells others whether it serves. */
export interface OpenedDatabase extends Database {
  /** Why it was not ready when `ready` was last asked. */
  trouble(): Trouble | undefined;
}

/** `read-only`: the server answers, and takes nothing to be stored, as a standby does. `denied`: our role lacks rights. */
export type Trouble = "away" | "login refused" | "no connection left" | "read-only" | "denied" | "full";
