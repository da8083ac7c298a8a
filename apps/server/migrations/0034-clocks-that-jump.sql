-- What a clock that was set back or ahead must not do: lose a charge from the sums, let go of data, or say that a run ended
-- before it began.

-- The latest moment of the database's clock that was believed, and for how long it has said since what is doubted; see
-- features/trusted-clock. Nothing that was written before this migration can be later than now, unless a clock was wrong
-- then.
create table clock_marks (
  only_one boolean primary key default true check (only_one),
  trusted_until timestamptz not null,
  steady_ms bigint not null default 0
);

insert into clock_marks (trusted_until) select least(clock_timestamp(), coalesce(greatest(
  (select max(heartbeat_at) from nodes),
  (select recorded_at from ledger order by id desc limit 1),
  (select ended_at from ended_predictions order by id desc limit 1)), clock_timestamp()));

-- What was charged on days after they were closed, before there was the trigger below, and is missing in their sums. First,
-- because it may take seconds, and the trigger keeps writers waiting until the end of this migration.
insert into usage_days as d (user_id, day, model_name, requests, paid_requests, spent_micros)
  select h.user_id, date_trunc('day', h.hour, 'UTC'), h.model_name, sum(h.requests), sum(h.paid_requests), sum(h.spent_micros)
  from usage_hours h where h.hour < (select days_before from usage_marks) group by 1, 2, 3
  on conflict (user_id, day, model_name) do update set requests = excluded.requests,
    paid_requests = excluded.paid_requests, spent_micros = excluded.spent_micros
  where d.requests <> excluded.requests or d.spent_micros <> excluded.spent_micros;
update usage_marks set charged_micros = coalesce(
  (select sum(spent_micros) from usage_days where model_name not like 'agents/%/%'), 0);

-- A row of usage that is dated into a day that is closed: the clock was set back after it was closed, or stood ahead then.
-- It is added to the day as well. The marks are locked meanwhile, so that the day is not opened again at the same time.
create function add_to_closed_days() returns trigger language plpgsql as $$
declare
  closed_before timestamptz;
begin
  -- Every settlement asks this: without looking at the rows, which are no earlier than the transaction or the clock.
  if not exists (select 1 from usage_marks where days_before > least(now(), clock_timestamp())) then
    return null;
  end if;
  select days_before into closed_before from usage_marks for update;
  with late as (
    select user_id, date_trunc('day', created_at, 'UTC') as day, model_name, count(*) as requests,
      count(*) filter (where price_micros > 0) as paid, sum(price_micros) as spent
    from added where created_at < closed_before group by 1, 2, 3
  ), summed as (
    insert into usage_days as d (user_id, day, model_name, requests, paid_requests, spent_micros)
    select * from late
    on conflict (user_id, day, model_name) do update set requests = d.requests + excluded.requests,
      paid_requests = d.paid_requests + excluded.paid_requests, spent_micros = d.spent_micros + excluded.spent_micros
  )
  update usage_marks set charged_micros = charged_micros
    + coalesce((select sum(spent) from late where model_name not like 'agents/%/%'), 0);
  return null;
end $$;

create trigger closed_days_get_late_usage after insert on usage
  referencing new table as added for each statement execute function add_to_closed_days();

create function end_no_sooner() returns trigger language plpgsql as $$
begin
  new.completed_at := new.created_at;
  return new;
end $$;

create trigger runs_end_after_they_began before update of completed_at on runs
  for each row when (new.completed_at < new.created_at) execute function end_no_sooner();
