import type { Sql, Transaction } from "../../engines/database/database.ts";

export interface SealedSecret {
  userId: string;
  number: number;
  sealed: Uint8Array;
}

export async function selectLiveSecrets(sql: Sql, userIds: readonly string[], now: Date): Promise<SealedSecret[]> {
  return sql<SealedSecret[]>`
    select user_id as "userId", number, sealed from webhook_secrets
    where user_id = any(${userIds as string[]}::text[]) and (expires_at is null or expires_at > ${now})
    order by user_id, number desc`;
}

export async function insertFirstSecret(sql: Sql, userId: string, sealed: Uint8Array, now: Date): Promise<void> {
  await sql`
    insert into webhook_secrets (user_id, number, sealed, created_at)
    values (${userId}, 1, ${sealed as Buffer}, ${now}) on conflict do nothing`;
}

/**
 * Ends the newest one at `oldUntil`, forgets those whose time is over, and adds what `make` gives for the next number.
 * The user's rows are locked first, so that two rotations come one after the other: there must be one already.
 */
export async function replaceSecret(
  tx: Transaction,
  userId: string,
  now: Date,
  oldUntil: Date,
  make: (live: number, number: number) => Uint8Array,
): Promise<void> {
  await tx`select 1 from webhook_secrets where user_id = ${userId} order by number for update`;
  await tx`delete from webhook_secrets where user_id = ${userId} and expires_at <= ${now}`;
  const [found] = await tx<{ live: number; newest: number }[]>`
    select count(*)::int as live, coalesce(max(number), 0) as newest from webhook_secrets where user_id = ${userId}`;
  const { live = 0, newest = 0 } = found ?? {};
  const sealed = make(live, newest + 1);
  await tx`update webhook_secrets set expires_at = ${oldUntil} where user_id = ${userId} and expires_at is null`;
  await tx`
    insert into webhook_secrets (user_id, number, sealed, created_at)
    values (${userId}, ${newest + 1}, ${sealed as Buffer}, ${now})`;
}
