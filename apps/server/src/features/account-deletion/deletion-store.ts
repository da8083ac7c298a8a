import type { Sql, Transaction } from "../../engines/database/database.ts";
import { type ClaimedAccount, neutralNameOf } from "./account.ts";

const settledSeconds = 1;

type Claim = Pick<ClaimedAccount, "userId" | "claim">;

const held = (sql: Sql, { userId, claim }: Claim) => sql`user_id = ${userId} and claim = ${claim}`;

/** The account that is due the longest. The claim ends with its lease, so another node continues after a crash. */
export async function claimAccount(sql: Sql, leaseMs: number): Promise<ClaimedAccount | undefined> {
  const [account] = await sql<ClaimedAccount[]>`
    update account_deletions d set claim = d.claim + 1,
      leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from users u
    where u.id = d.user_id and d.user_id = (
      select user_id from account_deletions
      where due_at <= clock_timestamp() and (leased_until is null or leased_until <= clock_timestamp())
      order by due_at limit 1 for update skip locked)
    returning u.id as "userId", u.username, u.created_at as "createdAt", d.claim,
      d.requested_at < clock_timestamp() - ${settledSeconds} * interval '1 second' as "isSettled",
      d.finished_at is not null as "isFinished"`;
  return account;
}

/** False if the claim was lost. */
export async function renewClaim(sql: Sql, claim: Claim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update account_deletions set leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where ${held(sql, claim)}`;
  return count > 0;
}

/** Null: nothing is left to do. */
export async function releaseClaim(sql: Sql, claim: Claim, dueInMs: number | null): Promise<void> {
  await sql`
    update account_deletions set leased_until = null, claim = claim + 1,
      due_at = clock_timestamp() + ${dueInMs}::float8 * interval '1 millisecond'
    where ${held(sql, claim)}`;
}

/** Whether the claim holds. The row stays locked. */
export async function lockClaim(tx: Transaction, claim: Claim): Promise<boolean> {
  const rows = await tx`select 1 from account_deletions where ${held(tx, claim)} for update`;
  return rows.length > 0;
}

/** An admin of the version before may have enabled the account. */
export async function keepDisabled(sql: Sql, { userId }: Claim): Promise<void> {
  await sql`update users set disabled_at = now() where id = ${userId} and disabled_at is null`;
}

/** Like a system user, the account is in no list, and has no part in billing. Its name cannot be taken. */
export async function forgetName(tx: Transaction, { userId, username }: ClaimedAccount): Promise<void> {
  await tx`
    insert into reserved_usernames (hash) values (sha256(convert_to(${username}, 'UTF8'))) on conflict do nothing`;
  await tx`
    update users set username = ${neutralNameOf(userId)}, role = 'system', kind = 'person', plan = 'free',
      password_hash = null
    where id = ${userId}`;
  await tx`update account_deletions set finished_at = clock_timestamp() where user_id = ${userId}`;
}
