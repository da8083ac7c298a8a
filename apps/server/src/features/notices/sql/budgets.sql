-- The budgets of a key in the current month and day, and what it has spent of them. Holds do not count: they may be released.
create or replace function budgets_of(wanted text, per_month bigint, per_day bigint)
returns table (period text, limit_micros bigint, spent_micros bigint) language sql stable as $$
  select to_char(now() at time zone 'UTC', 'YYYY-MM'), per_month, coalesce((
    select m.spent_micros from key_months m
    where m.key_id = wanted and m.month = date_trunc('month', now() at time zone 'UTC')::date), 0)
  where per_month > 0
  union all
  select to_char(now() at time zone 'UTC', 'YYYY-MM-DD'), per_day, coalesce((
    select d.spent_micros from key_days d where d.key_id = wanted and d.day = (now() at time zone 'UTC')::date), 0)
  where per_day > 0
$$;

-- The kind of notice that a budget needs. Null: none.
create or replace function budget_notice(budget bigint, spent bigint, percent integer)
returns text language sql immutable as $$
  select case when percent is null then null when spent >= budget then 'budget_spent'
    when spent * 100 >= budget * percent then 'budget_low' end
$$;
