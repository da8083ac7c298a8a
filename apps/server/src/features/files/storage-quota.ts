import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { FilesDeps } from "./files-deps.ts";

/** Bytes of a user in uploads, drives, stored responses and files of batches. Outputs of predictions do not count. */
export interface Storage {
  used: number;
  /** Undefined: unlimited. */
  allowed: number | undefined;
}

/**
 * The quota is that of the user's plan, or `defaultBytes`; 0 means unlimited. In the transaction that stored something, the
 * total includes it and is locked, so concurrent writers see each other.
 */
export async function readStorage(sql: Sql, userId: string, defaultBytes = 0): Promise<Storage> {
  const [row] = await sql<{ used: number | null; planned: number | null }[]>`
    select (select bytes from upload_totals where user_id = ${userId}) as used,
      (select p.storage_bytes from users u join plans p on p.name = u.plan where u.id = ${userId}) as planned`;
  const allowed = row?.planned ?? defaultBytes;
  return { used: row?.used ?? 0, allowed: allowed === 0 ? undefined : allowed };
}

/** Updates the totals in the statement that changes the files. `changes` selects `owner_id` and `more` (bytes, may be negative). */
export const countStored = (sql: Sql, changes: ReturnType<Sql>) => sql`
  insert into upload_totals as t (user_id, bytes)
  select owner_id, sum(more) from (${changes}) changes group by owner_id having sum(more) <> 0
  on conflict (user_id) do update set bytes = t.bytes + excluded.bytes`;

/** Undefined: unlimited. */
export function bytesLeft({ used, allowed }: Storage): number | undefined {
  return allowed === undefined ? undefined : Math.max(0, allowed - used);
}

export function quotaExceeded({ used, allowed = 0 }: Storage): Fault {
  const msg = `You store ${used} of the ${allowed} bytes that your plan allows, uploads, drives, stored responses and files of batches together. Delete some of them, or ask the operator for a larger quota.`;
  return fault("storage_quota_exceeded", msg, { ctx: { max_size: allowed, stored: used } });
}

/** An early check before bytes are read. `keepArrival` decides, because other uploads may finish meanwhile. */
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
