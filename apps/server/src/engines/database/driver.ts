import postgres from "postgres";
import { addArrayTypes } from "./arrays.ts";
import type { Sql } from "./database.ts";

/**
 * The query object of `postgres` as it really is. Its type declares a promise; we also need what it carries, to give it
 * a deadline and to decide ourselves which connection runs it. The version of `postgres` is pinned for this reason.
 */
export interface DriverQuery extends Promise<{ command: string }> {
  /** Called once, when the query is first awaited; never for a fragment inside another query. */
  handler: (query: DriverQuery) => void;
  canceller: ((query: DriverQuery) => Promise<void>) | null;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  strings: readonly string[];
  /** True while the server works on it. */
  active: boolean;
  streaming?: boolean;
  cursorRows?: number;
}

export type Driver = postgres.Sql<Record<string, never>>;

export interface DriverOptions {
  url: string;
  ssl?: object;
  applicationName?: string;
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The integer ${text} does not fit a JavaScript number`);
  return value;
}

/** A driver that never connects: it builds queries, and its parsed options are shared by all connections. */
export function createDriver({ url, ssl, applicationName = "gantry" }: DriverOptions): Driver {
  const driver = postgres(url, {
    max: 1,
    fetch_types: false,
    types: { int8: { to: 20, from: [20], serialize: String, parse: safeInteger } },
    // All other settings of a connection are made when it is open (session-settings.ts).
    connection: { application_name: applicationName },
    // Lifetimes and time limits are the pool's business (connection.ts, pool.ts), the driver's own are off.
    connect_timeout: 0,
    idle_timeout: 0,
    max_lifetime: 0,
    onnotice: () => undefined,
    ...(ssl && { ssl }),
  }) as unknown as Driver;
  addArrayTypes(driver.options);
  return driver;
}

/**
 * The driver declares an array of these as if it were its first element, which the server then cannot cast. Numbers and
 * texts it leaves undeclared, and the server finds their type by itself.
 */
function needsDeclaring(value: unknown): value is boolean[] {
  if (!Array.isArray(value)) return false;
  const [first] = value;
  return typeof first === "boolean" || first instanceof Date || first instanceof Uint8Array;
}

/** `sql` as callers use it: whatever it runs goes to `dispatch`, not to a connection of the driver's choosing. */
export function sqlOver(driver: Driver, dispatch: (query: DriverQuery) => void): Sql {
  const guard = <Q>(query: Q): Q => {
    (query as unknown as DriverQuery).handler = dispatch;
    return query;
  };
  const make = driver as unknown as (first: unknown, ...rest: unknown[]) => unknown;
  const tag = (first: { raw?: unknown }, ...rest: unknown[]): unknown => {
    if (!Array.isArray(first?.raw)) return make(first, ...rest);
    for (const [at, value] of rest.entries()) if (needsDeclaring(value)) rest[at] = driver.array(value);
    return guard(make(first, ...rest));
  };
  return Object.assign(tag, {
    types: driver.types,
    typed: driver.typed,
    json: driver.json,
    array: driver.array,
    unsafe: (...args: Parameters<Driver["unsafe"]>) => guard(driver.unsafe(...args)),
    notify: (channel: string, payload: string) => guard(driver`select pg_notify(${channel}, ${payload})`),
    file: () => {
      throw new Error("sql.file is not supported: read the file and use sql.unsafe");
    },
  }) as unknown as Sql;
}
