import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";

/** What a user stores in uploads and drives, and may; outputs of predictions do not count. */
export interface Storage {
  used: number;
  /** Undefined: as much as the store holds. */
  allowed: number | undefined;
}

/**
 * The quota of the user's plan, or `defaultBytes` where the plan has none; 0 is no quota. Read in the transaction that
 * stored something, the total includes it and is locked: of writers that end at once, each sees those before it.
 */
export async function readStorage(sql: Sql, userId: string, defaultBytes = 0): Promise<Storage> {
  const [row] = await sql<{ used: number | null; planned: number | null }[]>`
    select (select bytes from upload_totals where user_id = ${userId}) as used,
      (select p.storage_bytes from users u join plans p on p.name = u.plan where u.id = ${userId}) as planned`;
  const allowed = row?.planned ?? defaultBytes;
  return { used: row?.used ?? 0, allowed: allowed === 0 ? undefined : allowed };
}

/**
 * Adds to what users store, in the statement that changes it, so that the total is exact and locked until the commit.
 * `changes` selects `owner_id` and `more`, the bytes that came or, below zero, went.
 */
export const countStored = (sql: Sql, changes: ReturnType<Sql>) => sql`
  insert into upload_totals as t (user_id, bytes)
  select owner_id, sum(more) from (${changes}) changes group by owner_id having sum(more) <> 0
  on conflict (user_id) do update set bytes = t.bytes + excluded.bytes`;

/** How many bytes more fit; undefined: any number. */
export function bytesLeft({ used, allowed }: Storage): number | undefined {
  return allowed === undefined ? undefined : Math.max(0, allowed - used);
}

export function quotaExceeded({ used, allowed = 0 }: Storage): Fault {
  const msg = `You store ${used} of the ${allowed} bytes that your plan allows, uploads and drives together. Delete files that you no longer need, or ask the operator for a larger quota.`;
  return fault("storage_quota_exceeded", msg, { ctx: { max_size: allowed, stored: used } });
}

/**
 * Refuses an upload beyond its user's quota before its bytes are read. The decision falls once they are stored, because
 * any number of uploads may be under way. The bytes that it replaces do not count.
 */
export async function refuseBeyondQuota(
  deps: FilesDeps,
  ownerId: string,
  bytes: number,
  replacedBytes = 0,
): Promise<void> {
  const storage = await readStorage(deps.database.sql, ownerId, deps.storageBytesPerUser);
  const left = bytesLeft({ ...storage, used: storage.used - replacedBytes });
  if (left !== undefined && Math.max(bytes, 1) > left) throw quotaExceeded(storage);
}
