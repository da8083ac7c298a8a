import type { Sql } from "../../engines/database/database.ts";

type Query = ReturnType<Sql>;

/** The first moment with usage rows. If the mark is lost or invalid, all rows are expected, so that checks do not pass by default. */
export const horizon = (sql: Sql): Query =>
  sql`coalesce((select horizon from usage_marks where horizon <= now()), '-infinity')`;

/** The same as `is_sale`, which a restored database lacks before its first start. */
export const isSale = (sql: Sql, modelName: Query): Query => sql`${modelName} like 'agents/%/%'`;

/** The checks of the sums of usage, as those of `ledgerChecks`. */
export const sumChecks: Record<string, (sql: Sql) => Query> = {
  hours: (sql) => sql`
    select figure.rule, concat_ws(' ', coalesce(h.user_id, u.user_id), to_json(coalesce(h.hour, u.hour)) #>> '{}',
      coalesce(h.model_name, u.model_name)) as subject, expected, found
    from (
      select * from usage_hours where hour >= ${horizon(sql)}
    ) h full join (
      select u.user_id, date_trunc('hour', u.created_at) as hour, u.model_name, count(*) as requests,
        count(*) filter (where u.price_micros > 0) as paid, sum(u.price_micros) as spent,
        count(*) filter (where u.status >= 400 and u.status <> 499) as errors,
        coalesce(sum(u.input_tokens), 0) + coalesce(sum(u.output_tokens), 0) + coalesce(sum(u.cached_tokens), 0) as tokens,
        count(*) filter (where u.status = 200 and u.inference_ms is not null) as measured
      from usage u left join wallets w on w.user_id = u.user_id
      where u.created_at >= ${horizon(sql)} and u.created_at <= coalesce(w.folded_until, 'infinity') group by 1, 2, 3
    ) u on u.user_id = h.user_id and u.hour = h.hour and u.model_name = h.model_name
    cross join lateral (values
      ('hour_requests', coalesce(u.requests, 0), coalesce(h.requests, 0)),
      ('hour_paid_requests', coalesce(u.paid, 0), coalesce(h.paid_requests, 0)),
      ('hour_spent', coalesce(u.spent, 0), coalesce(h.spent_micros, 0)),
      -- Null is unknown, not wrong.
      ('hour_errors', coalesce(u.errors, 0), h.errors),
      ('hour_tokens', coalesce(u.tokens, 0), h.input_tokens + h.output_tokens + h.cached_tokens),
      ('hour_latencies', coalesce(u.measured, 0), case when h.latencies is not null then
        (select coalesce(sum(n), 0) from unnest(h.latencies) n) end)
    ) as figure (rule, expected, found)
    where expected <> found`,

  days: (sql) => sql`
    select figure.rule, concat_ws(' ', coalesce(d.user_id, h.user_id), to_json(coalesce(d.day, h.day)) #>> '{}',
      coalesce(d.model_name, h.model_name)) as subject, expected, found
    from usage_days d full join (
      select user_id, date_trunc('day', hour, 'UTC') as day, model_name, sum(requests) as requests,
        sum(paid_requests) as paid, sum(spent_micros) as spent, case when count(errors) = count(*) then sum(errors) end as errors,
        case when count(errors) = count(*) then sum(input_tokens + output_tokens + cached_tokens) end as tokens,
        case when count(errors) = count(*) then sum((select coalesce(sum(n), 0) from unnest(latencies) n)) end as measured
      from usage_hours where hour < coalesce((select days_before from usage_marks), '-infinity') group by 1, 2, 3
    ) h on h.user_id = d.user_id and h.day = d.day and h.model_name = d.model_name
    cross join lateral (values
      ('day_requests', coalesce(h.requests, 0), coalesce(d.requests, 0)),
      ('day_paid_requests', coalesce(h.paid, 0), coalesce(d.paid_requests, 0)),
      ('day_spent', coalesce(h.spent, 0), coalesce(d.spent_micros, 0)),
      ('day_errors', h.errors, d.errors),
      ('day_tokens', h.tokens, d.input_tokens + d.output_tokens + d.cached_tokens),
      ('day_latencies', h.measured, case when d.latencies is not null then
        (select coalesce(sum(n), 0) from unnest(d.latencies) n) end)
    ) as figure (rule, expected, found)
    where expected <> found
    union all
    select 'days_charged', 'all', charged, m.charged_micros from usage_marks m, (
      select coalesce(sum(spent_micros), 0) as charged from usage_days where not (${isSale(sql, sql`model_name`)})
    ) days where charged <> m.charged_micros`,
};
