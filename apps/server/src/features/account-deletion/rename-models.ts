import type { Database, Sql } from "../../engines/database/database.ts";
import { type ClaimedAccount, neutralNameOf } from "./account.ts";

type Account = Pick<ClaimedAccount, "userId" | "username">;

const deadlineMs = 10 * 60_000;

/** Usernames have no character that means something in a pattern. */
const isNamed = (sql: Sql, { username }: Account) => sql`
  (model_name like ${`${username}/%`} or model_name like ${`agents/${username}/%`})`;

/**
 * Replaces the names of the account's own models in its usage. Rows and sums of a day change together, so that the books
 * agree at each moment.
 */
export async function renameModels(database: Database, account: Account): Promise<void> {
  for (const day of await selectDays(database, account)) await renameDay(database, account, day);
}

/** From the sums, and from the rows that are not in them yet: a busy account has millions of rows. */
async function selectDays(database: Database, account: Account): Promise<Date[]> {
  const { userId } = account;
  return database.transaction(
    async (tx) => {
      const days = await tx<{ day: Date }[]>`
        select distinct date_trunc('day', at, 'UTC') as day from (
          select created_at as at from usage
          where user_id = ${userId} and created_at > (select folded_until from wallets where user_id = ${userId})
            and ${isNamed(tx, account)}
          union all
          select hour from usage_hours where user_id = ${userId} and ${isNamed(tx, account)}
          union all
          select day from usage_days where user_id = ${userId} and ${isNamed(tx, account)}
        ) named order by day`;
      return days.map(({ day }) => day);
    },
    { deadlineMs },
  );
}

function renameDay(database: Database, account: Account, day: Date): Promise<void> {
  const { userId } = account;
  const next = new Date(day.getTime() + 86_400_000);
  return database.transaction(
    async (tx) => {
      // Folds take the wallet, and closing a day takes the marks.
      await tx`select 1 from usage_marks for update`;
      await tx`select 1 from wallets where user_id = ${userId} for update`;
      const neutral = tx`
        (case when model_name like 'agents/%/%' then 'agents/' else '' end) || ${neutralNameOf(userId)}::text || '/'
          || left(encode(sha256(convert_to(${userId} || ' ' || model_name, 'UTF8')), 'hex'), 16)`;
      await tx`
        update usage set model_name = ${neutral}, backend = null
        where user_id = ${userId} and created_at >= ${day} and created_at < ${next} and ${isNamed(tx, account)}`;
      await tx`
        update usage_hours set model_name = ${neutral}
        where user_id = ${userId} and hour >= ${day} and hour < ${next} and ${isNamed(tx, account)}`;
      await tx`
        update usage_days set model_name = ${neutral}
        where user_id = ${userId} and day >= ${day} and day < ${next} and ${isNamed(tx, account)}`;
    },
    { deadlineMs },
  );
}
