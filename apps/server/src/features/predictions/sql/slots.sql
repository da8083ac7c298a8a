create or replace function grant_slots(wanted text[], clients_only boolean)
returns table (id text, holder text, claim integer) language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  model record;
  started text[];
begin
  for model in
    select s.model_id, m.capacity - s.running as free from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (wanted) and s.waiting > 0 and s.running < m.capacity and (
      select true from live_predictions l
      where l.model_id = s.model_id and l.started_at is null and l.holder is not null and l.route <> 'agent' limit 1)
    order by s.model_id
  loop
    select array_agg(line.id) into started
    from next_in_line(model.model_id, model.free, clients_only) line join live_predictions l on l.id = line.id
    where l.holder is not null and l.route <> 'agent';
    continue when started is null;
    return query
      update live_predictions l set started_at = clock_timestamp() where l.id = any (started)
      returning l.id, l.holder, l.claim;
    update model_slots s set running = s.running + cardinality(started), waiting = s.waiting - cardinality(started)
    where s.model_id = model.model_id;
    perform note_turns(started);
    perform leave_lines(array[model.model_id]);
  end loop;
end $$;

create or replace function hand_on_slots(touched_models text[], touched_users text[], out grants json, out wake boolean)
returns record language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
begin
  wake := exists (select 1 from model_slots where model_id = any (touched_models) and waiting > 0);
  if wake then
    select json_agg(g) into grants from grant_slots(touched_models, false) g;
  else
    wake := exists (select 1 from live_predictions
      where user_id = any (touched_users) and user_id > '' and started_at is null and holder is null);
  end if;
  if exists (select 1 from live_predictions where route = 'agent' and started_at is null) then
    perform pg_notify('gantry_calls', '');
  end if;
end $$;

create or replace function start_agent_calls(node text)
returns setof text language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  model record;
  call record;
  ids text[] := '{}';
  user_ids text[]; user_room int[]; models_wanted text[]; model_room int[];
  taken text[] := '{}';
  u int; m int;
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity and s.model_id in (
      select l.model_id from live_predictions l where l.holder = node and l.route = 'agent' and l.started_at is null)
  loop
    ids := ids || array(
      select line.id from next_in_line(model.model_id, model.free, false) line join live_predictions l on l.id = line.id
      where l.holder = node and l.route = 'agent');
  end loop;
  if cardinality(ids) = 0 then return; end if;

  select array_agg(distinct l.user_id order by l.user_id), array_agg(distinct l.model_id order by l.model_id)
    into user_ids, models_wanted from live_predictions l where l.id = any (ids);
  perform 1 from wallets w where w.user_id = any (user_ids) order by w.user_id for update;
  perform 1 from model_slots s where s.model_id = any (models_wanted) order by s.model_id for update;
  select array_agg(coalesce(p.parallel - w.running, cardinality(ids)) order by w.user_id) into user_room
    from wallets w join users on users.id = w.user_id join plans p on p.name = users.plan where w.user_id = any (user_ids);
  select array_agg(md.capacity - s.running order by s.model_id) into model_room
    from model_slots s join models md on md.id = s.model_id where s.model_id = any (models_wanted);
  for call in
    select l.id, l.user_id, l.model_id, l.key_id is null as sponsored from unnest(ids) with ordinality g (id, i) join live_predictions l on l.id = g.id
    where l.started_at is null order by g.i
  loop
    u := array_position(user_ids, call.user_id);
    m := array_position(models_wanted, call.model_id);
    if (call.sponsored or user_room[u] > 0) and model_room[m] > 0 then
      user_room[u] := user_room[u] - case when call.sponsored then 0 else 1 end;
      model_room[m] := model_room[m] - 1;
      taken := taken || call.id;
    end if;
  end loop;
  if cardinality(taken) = 0 then return; end if;

  update live_predictions l set started_at = clock_timestamp(), counts_parallel = l.key_id is not null where l.id = any (taken);
  update wallets w set running = w.running + d.n
  from (select l.user_id, count(*)::int as n from live_predictions l where l.id = any (taken) and l.key_id is not null group by 1) d
  where w.user_id = d.user_id;
  update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n
  from (select l.model_id, count(*)::int as n from live_predictions l where l.id = any (taken) group by 1) d
  where s.model_id = d.model_id;
  perform note_turns(taken);
  return query select unnest(taken);
end $$;
