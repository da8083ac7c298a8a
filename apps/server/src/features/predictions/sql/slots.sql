-- Slots of models, granted to waiting predictions. Callers have locked the slots of the models, and the wallets of users whose
-- queued predictions or calls start. Waiting rows are locked with `skip locked`: a row that is ending is skipped.

-- Starts those of the predictions that still wait. Returns their rows.
create or replace function start_waiting(ids text[], node text)
returns setof live_predictions language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  started live_predictions[]; g record;
begin
  with free as (
    select l.id from live_predictions l where l.id = any (ids) and l.started_at is null for update skip locked
  ), begun as (
    update live_predictions l set started_at = clock_timestamp(), holder = coalesce(l.holder, node),
      claim = l.claim + (l.holder is null)::integer, counts_parallel = l.key_id is not null
    from free where l.id = free.id returning l.*
  )
  select array_agg(b) into started from begun b;
  if started is null then return; end if;
  -- Clients count from admission on.
  update wallets w set running = w.running + g2.running, waiting = w.waiting - g2.n
  from (
    select l.user_id, count(*)::integer as n, count(l.key_id)::integer as running from unnest(started) l
    where l.route in ('async', 'agent') group by 1
  ) g2
  where w.user_id = g2.user_id;
  update model_slots s set running = s.running + g2.n, waiting = s.waiting - g2.n,
    served_at = case when g2.queued > 0 then clock_timestamp() else s.served_at end
  from (
    select l.model_id, count(*)::integer as n, count(*) filter (where l.route = 'async') as queued
    from unnest(started) l group by 1
  ) g2
  where s.model_id = g2.model_id;
  for g in select l.model_id, l.user_id, count(*)::integer as n from unnest(started) l group by 1, 2 loop
    perform advance_queue(g.model_id, g.user_id, g.n);
  end loop;
  return query select * from unnest(started);
end $$;

-- Grants free slots of these models to the clients that are next.
create or replace function grant_slots(wanted text[], clients_only boolean)
returns table (id text, holder text, claim integer) language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  model record;
begin
  for model in
    select s.model_id, m.capacity - s.running as free from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (wanted) and s.waiting > 0 and s.running < m.capacity and (
      select true from live_predictions l
      where l.model_id = s.model_id and l.started_at is null and l.holder is not null and l.route <> 'agent' limit 1)
    order by s.model_id
  loop
    return query select l.id, l.holder, l.claim from start_waiting(array(
      select q.id from next_in_queue(model.model_id, model.free, clients_only) q
      where q.holder is not null and q.route <> 'agent'), null) l;
  end loop;
end $$;

-- Starts the chosen predictions that limits allow: a user's plan, a model's capacity, and `most` in all.
create or replace function start_chosen(node text, chosen text[], most integer)
returns setof live_predictions language sql as $$
  with present as (
    select l.id, l.user_id, l.model_id, l.key_id is null as sponsored, g.i,
      count(l.key_id) over (partition by l.user_id order by g.i) as of_user
    from unnest(chosen) with ordinality g (id, i) cross join lateral (
      -- `offset 0` keeps the planner from joining in another order than by id.
      select * from live_predictions o where o.id = g.id offset 0
    ) l
    where l.started_at is null and (l.holder is null or l.holder = node)
      -- A node of an earlier version would fail queued conversations and embeddings.
      and (l.route <> 'async' or l.door is null or exists (
        select 1 from nodes n where n.id = node and n.runs_chats and (n.runs_batches or l.door = 'openai-responses')))
      -- It cannot call a model that lists several backends either.
      and (exists (select 1 from nodes n where n.id = node and n.lists_backends)
        or (select md.manifest -> 'backends' from models md where md.id = l.model_id) is null)
  ), allowed as (
    select f.id, f.model_id, f.i, row_number() over (partition by f.model_id order by f.i) as of_model
    from present f join wallets w on w.user_id = f.user_id join users u on u.id = f.user_id
      join plans p on p.name = u.plan
    where f.sponsored or f.of_user <= coalesce(p.parallel - w.running, most)
  )
  select * from start_waiting(array(
    select a.id from allowed a join model_slots s on s.model_id = a.model_id join models md on md.id = a.model_id
    where a.of_model <= md.capacity - s.running order by a.i limit most), node)
$$;

-- Starts waiting model calls of the node's runs, as far as models and plans allow.
create or replace function start_agent_calls(node text)
returns setof text language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  model record; chosen text[] := '{}';
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity and s.model_id in (
      select l.model_id from live_predictions l where l.holder = node and l.route = 'agent' and l.started_at is null)
  loop
    chosen := chosen || array(
      select q.id from next_in_queue(model.model_id, model.free, false) q
      where q.holder = node and q.route = 'agent');
  end loop;
  if cardinality(chosen) = 0 then return; end if;
  perform lock_accounts('{}', '{}', '{}', chosen);
  return query select l.id from start_chosen(node, chosen, cardinality(chosen)) l;
end $$;
