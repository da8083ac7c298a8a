import pg from "pg";
import type { Json, Part, Query, Rows, Sql } from "./database.ts";

export interface Statement {
  text: string;
  values: (string | Buffer | null)[];
  /** The name of the prepared statement. */
  name?: string | undefined;
}

export type Run = (statement: Statement) => Promise<pg.QueryResult>;

class JsonValue implements Json {
  readonly json: string;
  constructor(value: unknown) {
    this.json = JSON.stringify(value);
  }
}

class Identifiers {
  readonly text: string;
  constructor(names: readonly string[]) {
    this.text = names.map(pg.escapeIdentifier).join(", ");
  }
}

/** The source position of each template, for the stack of errors. */
const origins = new WeakMap<readonly string[], { stack?: string }>();

function rememberOrigin(strings: readonly string[], calledAs: (...args: never[]) => unknown): void {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 5;
  const origin = {};
  Error.captureStackTrace(origin, calledAs);
  Error.stackTraceLimit = limit;
  origins.set(strings, origin);
}

class LazyQuery<T> implements Query<T> {
  readonly [Symbol.toStringTag] = "Query";
  readonly strings: readonly string[];
  readonly parts: readonly Part[];
  readonly #run: Run;
  #answer: Promise<Rows<T>> | undefined;

  constructor(run: Run, strings: readonly string[], parts: readonly Part[]) {
    this.#run = run;
    this.strings = strings;
    this.parts = parts;
  }

  async #ask(): Promise<Rows<T>> {
    const values: Statement["values"] = [];
    const text = write(this, values);
    const name = "raw" in this.strings ? nameOf(text) : undefined;
    try {
      return rowsOf(await this.#run({ text, values, name }));
    } catch (error) {
      const origin = origins.get(this.strings)?.stack;
      if (origin && error instanceof pg.DatabaseError) error.stack += origin.slice(origin.indexOf("\n"));
      throw error;
    }
  }

  execute(): this {
    this.#answer ??= this.#ask();
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a query runs it
  then<A = Rows<T>, B = never>(
    onAnswer?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#answer ??= this.#ask();
    return this.#answer.then(onAnswer, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Rows<T> | B> {
    return this.then(null, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Rows<T>> {
    return this.then().finally(onEnd);
  }
}

function rowsOf<T>(result: pg.QueryResult | pg.QueryResult[]): Rows<T> {
  // Several statements have several results.
  const last = Array.isArray(result) ? result.at(-1) : result;
  return Object.defineProperty(last?.rows ?? [], "count", { value: last?.rowCount ?? 0 }) as unknown as Rows<T>;
}

function write({ strings, parts }: LazyQuery<unknown>, values: Statement["values"]): string {
  let text = strings[0] ?? "";
  for (let at = 0; at < parts.length; at++) text += writePart(parts[at], values) + strings[at + 1];
  return text;
}

function writePart(part: unknown, values: Statement["values"]): string {
  if (part instanceof LazyQuery) return write(part, values);
  if (part instanceof Identifiers) return part.text;
  return `$${values.push(encode(part))}${castOf(part)}`;
}

/** The server infers the type of numbers and texts. */
function castOf(value: unknown): string {
  if (typeof value !== "object") return typeof value === "boolean" ? "::bool" : "";
  if (value instanceof Date) return "::timestamptz";
  if (value instanceof Uint8Array) return "::bytea";
  if (value instanceof JsonValue) return "::jsonb";
  const ofElement = Array.isArray(value) ? castOf(value[0]) : "";
  return ofElement && `${ofElement}[]`;
}

function encode(value: unknown): string | Buffer | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Array.isArray(value) ? encodeArray(value) : encodeScalar(value);
}

function encodeScalar(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof JsonValue) return value.json;
  throw new TypeError(`Values of type ${typeof value} cannot be sent to the database`);
}

function encodeArray(values: readonly unknown[]): string {
  let text = "{";
  for (const value of values) {
    if (text.length > 1) text += ",";
    if (value === null) text += "NULL";
    else if (typeof value === "number") text += value;
    else if (Array.isArray(value)) text += encodeArray(value);
    else if (value instanceof Uint8Array) text += `"\\\\x${Buffer.from(value).toString("hex")}"`;
    else text += `"${encodeScalar(value).replace(/["\\]/g, "\\$&")}"`;
  }
  return `${text}}`;
}

const names = new Map<string, string>();
const mostNames = 5000;
let named = 0;

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= mostNames) names.clear();
    name = `gantry${named++}`;
    names.set(text, name);
  }
  return name;
}

export function sqlOver(run: Run): Sql {
  function sql(first: TemplateStringsArray | string, ...parts: Part[]): unknown {
    if (typeof first === "string") return new Identifiers([first, ...(parts as string[])]);
    if (!origins.has(first)) rememberOrigin(first, sql);
    return new LazyQuery(run, first, parts);
  }
  return Object.assign(sql, {
    json: (value: unknown) => new JsonValue(value),
    unsafe: (text: string) => new LazyQuery(run, [text], []),
    notify: (channel: string, payload: string) => (sql as Sql)`select pg_notify(${channel}, ${payload})`,
  }) as Sql;
}
