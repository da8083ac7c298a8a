import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import type { GrowthUpstream } from "./upstream.ts";

/** HTTP to the server under test. Throws unless the answer is a success. */
export interface Client {
  /** JSON is parsed, other answers are texts. */
  call<Answer = Record<string, unknown>>(method: string, path: string, options?: CallOptions): Promise<Answer>;
  upstream: GrowthUpstream;
  database: Database;
}

export interface CallOptions {
  /** JSON, or the bytes of a text. */
  body?: unknown;
  /** Fields of a form. */
  form?: Record<string, string | Blob>;
  key?: string;
  /** An expected status other than a success. */
  status?: number;
}

export interface Operation {
  name: string;
  /** Number of measured calls. */
  calls?: number;
  /** Creates what the calls need, one item each. Not measured. */
  prepare?(client: Client, count: number): Promise<readonly string[]>;
  run(client: Client, item: string, n: number): Promise<unknown>;
  /** Why the cost may grow faster than a logarithm. Without a reason, such growth fails the benchmark. */
  grows?: string;
}

export interface Dimension {
  name: string;
  /** Number of rows at both ends. */
  sizes: readonly [small: number, large: number];
  /** Settings of the server. */
  env?: Record<string, string>;
  fill(database: Database, size: number, adminId: string): Promise<void>;
  /** What is created through the API before the operations. */
  fillLive?(client: Client, size: number): Promise<void>;
  operations(size: number): readonly Operation[];
  /** Why the start of the server, or its background work, may grow. */
  startGrows?: string;
  backgroundGrows?: string;
}

/** `bench.id(prefix, milliseconds, n)`: ids of the fills, with the time of creation and a number. */
export async function createIdFunction({ sql }: Database): Promise<void> {
  const digit = (place: number) => `substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (ms >> ${5 * place} & 31)::int, 1)`;
  const digits = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(digit).join(" || ");
  await sql.unsafe(`
    create schema if not exists bench;
    create or replace function bench.id(prefix text, ms bigint, n bigint) returns text language sql immutable
      as $$ select prefix || '_' || ${digits} || lpad(n::text, 16, '0') $$`);
}
