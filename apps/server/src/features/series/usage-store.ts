import type { SeriesGroup, SeriesStep } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { Scope } from "../accounts/index.ts";
import { type Micros1970, micros1970, timeParameter, type UsageMarks, usageRows } from "../billing/index.ts";
import type { SeriesRequest, Steps } from "./plan.rules.ts";

type Query = ReturnType<Sql>;

type UsageMetric = "spend" | "requests" | "errors" | "tokens";

export interface UsageRequest extends SeriesRequest {
  metric: UsageMetric | "latency";
}

/** Whose usage: of one user or some of its keys, or all. */
export type Whose = Scope | "everyone";

/** The figures of one step and group. `group` is null for those that are not among the largest. */
export interface Cell {
  at: Micros1970;
  group: string | null;
  /** Of a latency: counts by step. Otherwise as the metric has them. */
  values: number[];
  latencySteps: number[];
  /** Some of it was summed before these figures were kept. */
  isUnknown: boolean;
}

const largestGroups = 8;

interface Columns {
  a: Query;
  b: Query;
  c: Query;
}

/** The figures of a metric as columns of the sums. */
const inSums: Readonly<Record<UsageMetric, (sql: Sql) => Columns>> = {
  spend: (sql) => ({ a: sql`spent_micros`, b: sql`0`, c: sql`0` }),
  requests: (sql) => ({ a: sql`requests`, b: sql`0`, c: sql`0` }),
  errors: (sql) => ({ a: sql`errors`, b: sql`0`, c: sql`0` }),
  tokens: (sql) => ({ a: sql`input_tokens`, b: sql`output_tokens`, c: sql`cached_tokens` }),
};

/** The same figures of a single row. */
const inRow: Readonly<Record<UsageMetric, (sql: Sql) => Columns>> = {
  spend: (sql) => ({ a: sql`price_micros`, b: sql`0`, c: sql`0` }),
  requests: (sql) => ({ a: sql`1`, b: sql`0`, c: sql`0` }),
  errors: (sql) => ({ a: sql`(status >= 400 and status <> 499)::int`, b: sql`0`, c: sql`0` }),
  tokens: (sql) => ({
    a: sql`coalesce(input_tokens, 0)`,
    b: sql`coalesce(output_tokens, 0)`,
    c: sql`coalesce(cached_tokens, 0)`,
  }),
};

const groups: Readonly<Record<SeriesGroup, (sql: Sql) => Query>> = {
  none: (sql) => sql`''::text`,
  model: (sql) => sql`model_name`,
  key: (sql) => sql`coalesce(key_id, '')`,
  mode: (sql) => sql`route`,
  status: (sql) => sql`
    case when status = 499 then 'cancelled' when status >= 400 then 'failed' else 'succeeded' end`,
};

interface Selection {
  whose: Whose;
  request: UsageRequest;
  steps: Steps;
  marks: UsageMarks;
}

/** From rows only. */
export function selectFromRows(sql: Sql, { whose, request, steps, marks }: Selection): Promise<Cell[]> {
  if (whose === "everyone") throw new Error("rows of all users are not read");
  const span = { from: Math.max(steps.from, marks.horizon), to: steps.until };
  const { model, keyId, mode } = request;
  const rows = sql`
    from ${usageRows(sql, whose, span)} where true ${ofModel(sql, model)}
      ${keyId === undefined ? sql`` : sql`and key_id = ${keyId}`} ${mode === undefined ? sql`` : sql`and route = ${mode}`}`;
  return addUp(sql, request, piecesOfRows(sql, request, steps, rows));
}

/** From the sums by day and hour, and the rows that are not folded yet. */
export function selectFromSums(sql: Sql, { whose, request, steps, marks }: Selection): Promise<Cell[]> {
  const { model } = request;
  const [from, to] = [timeParameter(steps.from), timeParameter(steps.until)];
  const byDay = steps.step === "day";
  const closed = timeParameter(byDay ? Math.min(Math.max(marks.daysBefore, steps.from), steps.to) : steps.from);
  const owner = whose === "everyone" ? sql`` : sql`and user_id = ${whose.userId}`;
  const days = sql`
    from (select *, day as at from usage_days) sums
    where at >= ${from}::text::timestamptz and at < ${closed}::text::timestamptz ${owner} ${ofModel(sql, model)}`;
  const hours = sql`
    from (select *, hour as at from usage_hours) sums
    where at >= ${closed}::text::timestamptz and at < ${to}::text::timestamptz ${owner} ${ofModel(sql, model)}`;
  const since = timeParameter(Math.max(steps.from, marks.foldedUntil + 1));
  const unfolded =
    whose === "everyone"
      ? sql`
        from wallets w cross join lateral (
          -- Offset 0 makes the planner use the index for each user.
          select * from usage
          where user_id = w.user_id and created_at > w.folded_until and created_at >= ${from}::text::timestamptz
            and created_at < ${to}::text::timestamptz offset 0
        ) usage where w.unfolded > 0 ${ofModel(sql, model)}`
      : sql`
        from usage where user_id = ${whose.userId} and created_at >= ${since}::text::timestamptz
          and created_at < ${to}::text::timestamptz ${ofModel(sql, model)}`;
  return addUp(
    sql,
    request,
    sql`
      ${byDay ? sql`${piecesOfSums(sql, request, steps, days)} union all` : sql``}
      ${piecesOfSums(sql, request, steps, hours)}
      union all
      ${piecesOfRows(sql, request, steps, unfolded)}`,
  );
}

const ofModel = (sql: Sql, model: string | undefined): Query =>
  model === undefined ? sql`` : sql`and model_name = ${model}`;

/** Steps begin with those of UTC. `date_trunc` would look up the time zone for every row. */
const bucket = (sql: Sql, { step }: Steps, column: "at" | "created_at"): Query =>
  sql`date_bin(${lengths[step](sql)}, ${sql(column)}, timestamptz '1970-01-01T00:00:00Z')`;

/** Literals, because a parameter would be converted for every row. */
const lengths: Readonly<Record<SeriesStep, (sql: Sql) => Query>> = {
  minute: (sql) => sql`interval '1 minute'`,
  hour: (sql) => sql`interval '1 hour'`,
  day: (sql) => sql`interval '1 day'`,
};

/** Pieces have the columns at, grp, latency_step, a, b, c, unknown. */
function piecesOfSums(sql: Sql, { metric, groupBy }: UsageRequest, steps: Steps, rows: Query): Query {
  const grp = groups[groupBy](sql);
  const at = bucket(sql, steps, "at");
  if (metric === "latency") {
    return sql`
      select ${at} as at, ${grp} as grp, l.step::int as latency_step, sum(l.n) as a, 0 as b, 0 as c, bool_or(unknown) as unknown
      from (select at, model_name, latencies, latencies is null as unknown ${rows}) sums
      left join lateral unnest(latencies) with ordinality as l (n, step) on l.n > 0
      where unknown or l.n is not null
      group by 1, 2, 3`;
  }
  const { a, b, c } = inSums[metric](sql);
  return sql`
    select ${at} as at, ${grp} as grp, 0 as latency_step, sum(${a}) as a, sum(${b}) as b,
      sum(${c}) as c, bool_or(${a} is null) as unknown
    ${rows} group by 1, 2`;
}

function piecesOfRows(sql: Sql, { metric, groupBy }: UsageRequest, steps: Steps, rows: Query): Query {
  const grp = groups[groupBy](sql);
  const at = bucket(sql, steps, "created_at");
  if (metric === "latency") {
    return sql`
      select ${at} as at, ${grp} as grp, latency_step(inference_ms) as latency_step, count(*) as a, 0 as b, 0 as c, false as unknown
      ${rows} and status = 200 and inference_ms is not null group by 1, 2, 3`;
  }
  const { a, b, c } = inRow[metric](sql);
  return sql`
    select ${at} as at, ${grp} as grp, 0 as latency_step, sum(${a}) as a, sum(${b}) as b,
      sum(${c}) as c, false as unknown
    ${rows} group by 1, 2`;
}

/** The largest groups by their total, and the rest together. */
async function addUp(sql: Sql, { metric, groupBy }: UsageRequest, pieces: Query): Promise<Cell[]> {
  const isLatency = metric === "latency";
  return sql<Cell[]>`
    with piece as materialized (${pieces}), top as materialized (
      select grp from piece group by grp order by sum(a + b) desc nulls last, grp collate "C" limit ${largestGroups}
    ), cell as (
      select p.at, t.grp, p.latency_step, coalesce(sum(p.a), 0)::bigint as a, coalesce(sum(p.b), 0)::bigint as b,
        coalesce(sum(p.c), 0)::bigint as c, bool_or(p.unknown) as unknown
      from piece p left join top t on t.grp = p.grp group by 1, 2, 3
    )
    select ${micros1970(sql, sql`at`)} as at, ${groupBy === "none" ? sql`''` : sql`grp`} as "group",
      ${isLatency ? sql`array_agg(a)` : sql`array[max(a), max(b), max(c)]`} as values,
      ${isLatency ? sql`array_agg(coalesce(latency_step, 0))` : sql`'{}'::int[]`} as "latencySteps",
      bool_or(unknown) as "isUnknown"
    from cell group by 1, 2 order by 1`;
}

/** Names of a user's keys by id. */
export async function selectKeyNames(sql: Sql, userId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from api_keys where user_id = ${userId} and id = any (${[...ids]}::text[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The marks of all users together: unfolded rows are found by the wallets. */
export async function selectSharedMarks(sql: Sql): Promise<UsageMarks> {
  const [marks] = await sql<UsageMarks[]>`
    select ${micros1970(sql, sql`clock_timestamp()`)} as now,
      coalesce(${micros1970(sql, sql`days_before`)}, 0) as "daysBefore",
      coalesce(${micros1970(sql, sql`horizon`)}, 0) as horizon, 0 as "foldedUntil"
    from usage_marks`;
  if (!marks) throw new Error("usage_marks is missing");
  return marks;
}
