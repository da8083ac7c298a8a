create or replace function choose_jobs(hands integer)
returns text[] language plpgsql stable set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  model record;
  ids text[] := '{}';
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity order by s.served_at
  loop
    ids := ids || array(
      select line.id from next_in_line(model.model_id, least(model.free, hands), false) line where line.holder is null);
    exit when cardinality(ids) >= hands;
  end loop;
  return ids;
end $$;

create or replace function take_jobs(node text, ids text[], hands integer)
returns setof live_predictions language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  taken text[];
begin
  with present as (
    select l.id, l.user_id, l.model_id, g.i, row_number() over (partition by l.user_id order by g.i) as of_user
    from unnest(ids) with ordinality g (id, i) cross join lateral (
      -- Found by its id first: offset keeps the planner from another order.
      select * from live_predictions o where o.id = g.id offset 0
    ) l
    where l.started_at is null and l.holder is null
  ), allowed as (
    select f.id, f.model_id, f.i, row_number() over (partition by f.model_id order by f.i) as of_model
    from present f join wallets w on w.user_id = f.user_id join users u on u.id = f.user_id
      join plans p on p.name = u.plan
    where f.of_user <= coalesce(p.parallel - w.running, hands)
  )
  select array_agg(c.id) into taken from (
    select a.id from allowed a join model_slots s on s.model_id = a.model_id join models md on md.id = a.model_id
    where a.of_model <= md.capacity - s.running order by a.i limit hands
  ) c;
  if taken is null then return; end if;
  return query
    with started as (
      update live_predictions l set started_at = clock_timestamp(), holder = node, claim = l.claim + 1,
        counts_parallel = true
      where l.id = any (taken) returning l.*
    ), counted as (
      update wallets w set running = w.running + d.n
      from (select user_id, count(*)::int as n from started group by 1) d where w.user_id = d.user_id
    ), given as (
      update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n, served_at = clock_timestamp()
      from (select model_id, count(*)::int as n from started group by 1) d where s.model_id = d.model_id
    )
    select * from started;
  perform note_turns(taken);
  perform leave_lines(array(select distinct l.model_id from live_predictions l where l.id = any (taken)));
end $$;

create or replace function claim_predictions(node text, hands integer)
returns setof live_predictions language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  ids text[] := choose_jobs(hands);
begin
  if cardinality(ids) = 0 then return; end if;
  perform 1 from wallets where user_id in (select l.user_id from live_predictions l where l.id = any (ids))
    order by user_id for update;
  perform 1 from model_slots where model_id in (select l.model_id from live_predictions l where l.id = any (ids))
    order by model_id for update;
  return query select * from take_jobs(node, ids, hands);
end $$;

create or replace function release_predictions(ids text[], claims integer[], died boolean)
returns setof text language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
begin
  perform 1 from wallets where user_id in (select user_id from live_predictions where id = any (ids))
    order by user_id for update;
  perform 1 from model_slots where model_id in (select model_id from live_predictions where id = any (ids))
    order by model_id for update;
  return query
    with back as (
      update live_predictions l set started_at = null, holder = null, claim = l.claim + 1, counts_parallel = false,
        queue_until = l.queue_until + (clock_timestamp() - l.started_at),
        deaths = l.deaths + case when died then 1 else 0 end
      from unnest(ids, claims) as g (id, claim)
      where l.id = g.id and l.claim = g.claim and l.route = 'async' and l.started_at is not null
      returning l.id, l.user_id, l.model_id, l.high_priority
    ), wallet as (
      update wallets w set running = w.running - d.n
      from (select user_id, count(*)::int as n from back group by 1) d where w.user_id = d.user_id
    ), slot as (
      update model_slots s set running = s.running - d.n, waiting = s.waiting + d.n
      from (select model_id, count(*)::int as n from back group by 1) d where s.model_id = d.model_id
    ), line as (
      insert into model_lines (model_id, user_id, high_priority)
      select distinct model_id, user_id, high_priority from back on conflict do nothing
    )
    select back.id from back;
end $$;
