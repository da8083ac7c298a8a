create or replace function next_in_line(wanted text, n integer, clients_only boolean)
returns table (id text, user_id text, holder text, claim integer) language sql stable as $$
  with standing as materialized (
    select v.user_id, v.high_priority, v.last_turn, r.all_go
    from model_lines v cross join lateral (
      select not clients_only and coalesce(p.parallel > w.running, true) as all_go
      from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan where w.user_id = v.user_id
    ) r
    where v.model_id = wanted and v.user_id > '' and case when r.all_go
      then (
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null limit 1)
      else coalesce((
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.holder is not null
          and l.route <> 'agent' limit 1), (
        select true from live_predictions l where not clients_only and l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.key_id is null limit 1))
    end
    order by v.high_priority desc, v.last_turn limit n + 64
  ), size as (
    select 1 + 2 * n / greatest(count(*), 1) as each from standing
  )
  select line.id, line.user_id, line.holder, line.claim
  from size cross join standing s cross join lateral (
    select l.*, row_number() over (order by l.created_at) + (
        select count(*) from live_predictions r
        where r.model_id = wanted and r.user_id = s.user_id and r.started_at is not null
      ) as turn
    from (
      -- Separate branches, because a user at the parallel limit may have a million queued before the first that may go.
      (select * from live_predictions l
        where s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.holder is not null and l.route <> 'agent'
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and not clients_only and l.model_id = wanted and l.user_id = s.user_id
          and l.high_priority = s.high_priority and l.started_at is null and l.key_id is null
        order by l.created_at limit size.each)
    ) l
  ) line
  order by line.high_priority desc, line.turn, s.last_turn, line.created_at limit n
$$;

create or replace function note_turns(started text[])
returns void language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
begin
  with served as (
    select distinct l.model_id, l.user_id from live_predictions l where l.id = any (started)
  ), turns as (
    select v.model_id, v.user_id, v.high_priority, coalesce((
        select true from live_predictions l
        where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
          and l.started_at is null limit 1
      ), false) as goes_on
    from served s join model_lines v on v.model_id = s.model_id and v.user_id = s.user_id
  ), left_line as (
    delete from model_lines v using turns t where not t.goes_on
      and v.model_id = t.model_id and v.user_id = t.user_id and v.high_priority = t.high_priority
  )
  update model_lines v set last_turn = clock_timestamp() from turns t where t.goes_on
    and v.model_id = t.model_id and v.user_id = t.user_id and v.high_priority = t.high_priority;
end $$;

create or replace function leave_lines(touched_models text[])
returns void language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
begin
  delete from model_lines v using (
    select f.* from unnest(touched_models) as t (model_id) cross join lateral (
      select o.model_id, o.user_id, o.high_priority from model_lines o
      where o.model_id = t.model_id and o.user_id > ''
      order by o.high_priority desc, o.last_turn limit 20
    ) f
  ) front
  where v.model_id = front.model_id and v.user_id = front.user_id and v.high_priority = front.high_priority
    and (
      select true from live_predictions l
      where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
        and l.started_at is null limit 1) is null;
end $$;

create or replace function mend_lines()
returns void language sql set enable_seqscan to 'off' as $$
  with recursive places as (
    (select l.model_id, l.user_id, l.high_priority from live_predictions l where l.started_at is null
      order by 1, 2, 3 limit 1)
    union all
    select n.* from places p cross join lateral (
      select l.model_id, l.user_id, l.high_priority from live_predictions l
      where l.started_at is null and (l.model_id, l.user_id, l.high_priority) > (p.model_id, p.user_id, p.high_priority)
      order by 1, 2, 3 limit 1
    ) n
  )
  insert into model_lines (model_id, user_id, high_priority) select * from places on conflict do nothing
$$;
