import type { Sql } from "../../engines/database/database.ts";

/** Ids of keys, and public parts of sessions, that were used. */
export interface KeyUses {
  keyIds: readonly string[];
  sessions: readonly string[];
}

/** Skips locked keys: a later use is recorded again, and requests must not be waited for. */
export async function writeKeyUse(
  sql: Sql,
  { keyIds, sessions }: KeyUses,
  now: Date,
  unlessSince: Date,
): Promise<void> {
  await sql`
    with due as (
      select id from api_keys
      where id = any(${keyIds as string[]}::text[]) and (last_used_at is null or last_used_at <= ${unlessSince})
      order by id
      for update skip locked
    )
    update api_keys set last_used_at = ${now} from due where api_keys.id = due.id`;
  if (sessions.length === 0) return;
  await sql`
    with due as (
      select public from retired_key_pairs
      where public = any(${sessions as string[]}::text[]) and (last_used_at is null or last_used_at <= ${unlessSince})
      order by public
      for update skip locked
    )
    update retired_key_pairs p set last_used_at = ${now} from due where p.public = due.public`;
}
