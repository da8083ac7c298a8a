import type { MemberRecord } from "@gantry/sdk";
import { count, money } from "../../ui/format.ts";

type Budget = Pick<MemberRecord, "spent" | "monthly_limit" | "daily_limit" | "tokens_per_minute">;

/** For example "$3.00 of $20.00 this month" and "At most $2.00 a day". The spending of others may be hidden. */
export function budgetLines({ spent, monthly_limit, daily_limit, tokens_per_minute }: Budget): string[] {
  const lines: string[] = [];
  if (spent !== null) {
    const used = monthly_limit === null ? money(spent) : `${money(spent)} of ${money(monthly_limit)}`;
    lines.push(`${used} this month`);
  } else if (monthly_limit !== null) lines.push(`At most ${money(monthly_limit)} a month`);
  if (daily_limit !== null) lines.push(`At most ${money(daily_limit)} a day`);
  if (tokens_per_minute !== null) lines.push(`At most ${count(tokens_per_minute)} tokens a minute`);
  return lines;
}
