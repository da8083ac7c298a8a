-- Claims at most `wanted` due schedules for `lease`, by the clock of the database. Every user's first comes before any
-- user's second. A claim that is not used ends with its lease, and another node claims the same due time.
create or replace function claim_schedules(wanted integer, lease interval)
returns setof schedules language sql as $$
  with due as (
    select id, look_at, row_number() over (partition by user_id order by look_at, id) as nth
    from schedules where look_at <= now()
  ), free as (
    select s.id from due d join schedules s on s.id = d.id
    where s.look_at <= now()
    order by d.nth, d.look_at, d.id limit wanted
    for update of s skip locked
  )
  update schedules s set look_at = clock_timestamp() + lease, tries = s.tries + 1
  from free where s.id = free.id returning s.*
$$;
