import type { Sql } from "../../engines/database/database.ts";
import { type Key, keyFields } from "./store.ts";

/** What a key, with the keys that it is the parent of, has spent of its periods until a moment. */
export interface Past {
  monthMicros: number;
  dayMicros: number;
  /** As text: JavaScript has milliseconds only. */
  until: string;
}

interface Owned {
  userId: string;
  keyId: string;
}

/** Usage rows of a user are dated in the order of their commits, so later rows come after `until`. */
export async function pastOf(sql: Sql, { userId, keyId }: Owned, now: Date, since = "-infinity"): Promise<Past> {
  const [row] = await sql<Past[]>`
    select coalesce(sum(u.price_micros), 0)::float8 as "monthMicros",
      coalesce(sum(u.price_micros) filter (where u.created_at >= date_trunc('day', ${now}::timestamptz, 'UTC')), 0)::float8
        as "dayMicros",
      coalesce(max(u.created_at), ${since}::text::timestamptz)::text as until
    from api_keys k join usage u on u.key_id = k.id and u.user_id = ${userId}
      and u.created_at >= date_trunc('month', ${now}::timestamptz, 'UTC') and u.created_at > ${since}::text::timestamptz
    where k.id = ${keyId} or k.parent_id = ${keyId}`;
  return row ?? { monthMicros: 0, dayMicros: 0, until: since };
}

/** Starts the counters of budgets that the key did not have. The wallet must be locked. */
export async function countPast(tx: Sql, { key, next }: { key: Key; next: Key }, past: Past, now: Date): Promise<void> {
  const startsMonth = key.monthlyLimitMicros === null && next.monthlyLimitMicros !== null;
  const startsDay = key.dailyLimitMicros == null && next.dailyLimitMicros != null;
  if (!startsMonth && !startsDay) return;
  const later = await pastOf(tx, { userId: key.userId, keyId: key.id }, now, past.until);
  const today = now.toISOString().slice(0, 10);
  if (startsMonth)
    await tx`
      insert into key_months as m (key_id, month, spent_micros)
      values (${key.id}, date_trunc('month', ${today}::text::date)::date, ${past.monthMicros + later.monthMicros})
      on conflict (key_id, month) do update set spent_micros = greatest(m.spent_micros, excluded.spent_micros)`;
  if (startsDay)
    await tx`
      insert into key_days as d (key_id, day, spent_micros)
      values (${key.id}, ${today}::text::date, ${past.dayMicros + later.dayMicros})
      on conflict (key_id, day) do update set spent_micros = greatest(d.spent_micros, excluded.spent_micros)`;
}

export async function writeKeyChange(sql: Sql, key: Key, next: Key, now: Date): Promise<Key> {
  const { monthlyLimitMicros: month, dailyLimitMicros: day = null, tokensPerMinute: tokens = null } = next;
  const isLimitChanged =
    month !== key.monthlyLimitMicros ||
    day !== (key.dailyLimitMicros ?? null) ||
    tokens !== (key.tokensPerMinute ?? null);
  const [row] = await sql<Key[]>`
    update api_keys
    set name = ${next.name}, expires_at = ${next.expiresAt}, models = ${next.models as string[] | null}::text[],
      keep_inputs = ${next.keepsInputs}, monthly_limit_micros = ${month}::bigint, daily_limit_micros = ${day}::bigint,
      tokens_per_minute = ${tokens}::bigint
      ${isLimitChanged ? sql`, limits_changed_at = ${now}` : sql``}
    where id = ${key.id} and user_id = ${key.userId}
    returning ${keyFields(sql)}`;
  if (!row) throw new Error("locked key is missing");
  return row;
}

/** Days are of no use once they are over. Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteKeyDays(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from key_days where (key_id, day) in (
      -- Work that was accepted on that day still has its reservation there.
      select d.key_id, d.day from key_days d where d.day < ${before} and d.reserved_micros = 0
      order by d.day limit ${limit} for update skip locked
    )`;
  return count;
}
