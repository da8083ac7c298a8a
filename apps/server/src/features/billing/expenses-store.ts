import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import type { Span, TimeCut } from "./time-cut.rules.ts";
import { cutParameters } from "./time-store.ts";
import { usageIn } from "./usage-store.ts";

interface ModelExpense {
  modelName: string;
  requests: number;
  spent: Micros;
}

export interface ExpenseSums {
  totalModels: number;
  totalRequests: number;
  totalSpent: Micros;
  /** Of one page. */
  models: ModelExpense[];
}

type Query = ReturnType<Sql>;

/** What a user paid for each model, in pieces; requests that cost nothing are not counted. */
export function expensesOfUser(sql: Sql, userId: string, cut: TimeCut): Query {
  const { days, hours, rows } = cutParameters(cut);
  return sql`
      select model_name, sum(paid_requests) as n, sum(spent_micros) as spent
      from usage_days
      where user_id = ${userId} and day >= ${days.from}::text::timestamptz and day < ${days.to}::text::timestamptz
      group by model_name
      union all
      select h.model_name, sum(h.paid_requests), sum(h.spent_micros)
      from unnest(${hours.from}::text[]::timestamptz[], ${hours.to}::text[]::timestamptz[]) as span (since, until)
      join usage_hours h on h.user_id = ${userId} and h.hour >= span.since and h.hour < span.until
      group by h.model_name
      union all
      select part.model_name, span.sign * part.n, span.sign * part.spent
      from unnest(${rows.from}::text[]::timestamptz[], ${rows.to}::text[]::timestamptz[], ${rows.sign}::int[])
        as span (since, until, sign)
      cross join lateral (
        select u.model_name, count(*) as n, sum(u.price_micros) as spent from usage u
        where u.user_id = ${userId} and u.created_at >= span.since and u.created_at < span.until and u.price_micros > 0
        group by u.model_name
      ) part`;
}

/** The same for what one key started. There are no sums of a key, so that its rows are added up. */
export function expensesOfKey(sql: Sql, scope: Scope, span: Span): Query {
  return sql`
      select model_name, count(*) as n, sum(price_micros) as spent from usage
      where ${usageIn(sql, scope, span)} and price_micros > 0 group by model_name`;
}

export async function sumExpenses(
  sql: Sql,
  pieces: Query,
  { limit, offset }: { limit: number; offset: number },
): Promise<ExpenseSums> {
  const [sums] = await sql<[ExpenseSums]>`
    with piece as (${pieces}), model as (
      select model_name as "modelName", sum(n)::bigint as requests, sum(spent)::bigint as spent
      from piece group by model_name having sum(n) > 0
    ), page as (
      select * from model order by spent desc, "modelName" collate "C" limit ${limit} offset ${offset}
    )
    select (select count(*) from model) as "totalModels",
      (select coalesce(sum(requests), 0)::bigint from model) as "totalRequests",
      (select coalesce(sum(spent), 0)::bigint from model) as "totalSpent",
      coalesce((select json_agg(page order by spent desc, "modelName" collate "C") from page), '[]'::json) as models`;
  return sums;
}
