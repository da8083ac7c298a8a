import type { Database, Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Scope } from "../accounts/index.ts";
import {
  cutTime,
  type Moment,
  momentOfMicros,
  type Span,
  spanOf,
  type TimeCut,
  withinRows,
  withinSums,
} from "./time.rules.ts";
import { cutParameters, readFromOneSnapshot, selectMarks } from "./time-store.ts";
import { usageRows } from "./usage.ts";

export interface ExpensesRequest {
  /** Default: 7 days ago. */
  start: Moment | undefined;
  /** Default: now. */
  end: Moment | undefined;
  page: number;
}

export interface Expenses extends ExpenseSums {
  start: Moment;
  end: Moment;
  totalPages: number;
}

const pageSize = 10;
const defaultRange = 7 * 86_400_000_000;

/** The expenses of a user, or of one key, by model. Whole days and hours of a user come from sums, the rest from rows. */
export async function readExpenses(database: Database, scope: Scope, request: ExpensesRequest): Promise<Expenses> {
  return database.transaction(async (tx) => {
    const [, marks] = await Promise.all([readFromOneSnapshot(tx), selectMarks(tx, scope.userId)]);
    const end = request.end ?? momentOfMicros(marks.now);
    const start = request.start ?? momentOfMicros(marks.now - defaultRange);
    if (start > end) {
      const why = request.start === undefined ? ". The default of start_date is 7 days ago." : "";
      throw fault("invalid_parameters", `start_date must not be after end_date${why}`, {
        loc: ["query", "start_date"],
      });
    }
    const asked = spanOf({ from: start, to: end }, marks.now);
    const pieces =
      scope.onlyKeyIds === null
        ? expensesOfUser(tx, scope.userId, cutTime(withinSums(asked, marks), marks))
        : expensesOfKey(tx, scope, withinRows(asked, marks));
    const offset = Math.min((request.page - 1) * pageSize, Number.MAX_SAFE_INTEGER);
    const sums = await sumExpenses(tx, pieces, { limit: pageSize, offset });
    return { ...sums, start, end, totalPages: Math.ceil(sums.totalModels / pageSize) };
  });
}

interface ModelExpense {
  modelName: string;
  requests: number;
  spent: Micros;
}

export interface ExpenseSums {
  totalModels: number;
  totalRequests: number;
  totalSpent: Micros;
  models: ModelExpense[];
}

type Query = ReturnType<Sql>;

/** The expenses of a user by model, in pieces to add up. Free requests are not counted. */
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

/** The expenses of one key. Sums exist for users only, so rows are added up. */
export function expensesOfKey(sql: Sql, scope: Scope, span: Span): Query {
  return sql`
      select model_name, count(*) as n, sum(price_micros) as spent
      from ${usageRows(sql, scope, span, { only: sql`and price_micros > 0` })} group by model_name`;
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
