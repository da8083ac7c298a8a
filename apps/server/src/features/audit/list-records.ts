import type { AuditRecord } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";

export interface AuditFilter {
  /** The beginning of the action. */
  action?: string | undefined;
  /** These four are an id or a name. */
  actor?: string | undefined;
  owner?: string | undefined;
  object?: string | undefined;
  q?: string | undefined;
  /** Moments with microseconds, inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  /** Only what this user did, or what was done to its objects. */
  concerning?: string | undefined;
}

type Entry = Pick<AuditRecord, "action" | "actor" | "origin" | "object" | "owner" | "before" | "after">;

export interface StoredRecord {
  seq: number;
  /** With microseconds, so that it can be the end of a range. */
  at: string;
  hash: string;
  entry: Entry;
}

export interface Range {
  limit: number;
  offset: number;
}

/** Newest first. */
export async function listRecords(
  { sql }: Database,
  filter: AuditFilter,
  { limit, offset }: Range,
): Promise<{ entries: StoredRecord[]; total: number }> {
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from audit_records where ${matching(sql, filter)}`;
  const entries = await sql<StoredRecord[]>`
    select ${columns(sql)} from audit_records where ${matching(sql, filter)}
    order by seq desc limit ${limit} offset ${offset}`;
  return { entries, total: counted?.total ?? 0 };
}

const portion = 500;

/** All that match, newest first, in portions. Records that follow meanwhile are left out. */
export async function* exportRecords({ sql }: Database, filter: AuditFilter): AsyncGenerator<StoredRecord[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await sql<StoredRecord[]>`
      select ${columns(sql)} from audit_records where ${matching(sql, filter)} and seq < ${before}
      order by seq desc limit ${portion}`;
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (rows.length < portion || !last) return;
    before = last.seq;
  }
}

const columns = (sql: Sql) => sql`
  seq, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, encode(hash, 'hex') as hash, entry`;

function matching(sql: Sql, { action, actor, owner, object, q, from, to, concerning }: AuditFilter) {
  return sql`true
    ${action === undefined ? sql`` : sql`and starts_with(action, ${action})`}
    ${actor === undefined ? sql`` : sql`and ${named(sql, actor)} and ${among(sql, actor, "actor", "username")}`}
    ${owner === undefined ? sql`` : sql`and ${named(sql, owner)} and ${among(sql, owner, "owner", "username")}`}
    ${object === undefined ? sql`` : sql`and ${named(sql, object)} and ${among(sql, object, "object", "name")}`}
    ${q === undefined ? sql`` : sql`and ${named(sql, q)}`}
    ${from === undefined ? sql`` : sql`and at >= ${from}`}
    ${to === undefined ? sql`` : sql`and at <= ${to}`}
    ${concerning === undefined ? sql`` : sql`and (actor_id = ${concerning} or owner_id = ${concerning})`}`;
}

/** Uses the index of all ids and names. */
const named = (sql: Sql, text: string) => sql`names @> array[${text}]`;

const among = (sql: Sql, text: string, part: string, name: string) =>
  sql`${text} in (entry -> ${part}::text ->> 'id', entry -> ${part}::text ->> ${name}::text)`;
