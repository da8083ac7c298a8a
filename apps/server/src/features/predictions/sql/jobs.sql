-- Queued predictions: a worker claims as many as it has free slots.

-- The next jobs of all models, beginning with the model that was served longest ago.
create or replace function next_jobs(slots integer)
returns text[] language plpgsql stable
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  model record;
  ids text[] := '{}';
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity order by s.served_at
  loop
    ids := ids || array(
      select q.id from next_in_queue(model.model_id, least(model.free, slots), false) q where q.holder is null);
    exit when cardinality(ids) >= slots;
  end loop;
  return ids;
end $$;

-- A job as a worker reads it.
create or replace function claimed_job(l live_predictions) returns json language sql stable as $$
  select json_build_object('id', l.id, 'claim', l.claim, 'userId', l.user_id, 'modelId', l.model_id,
    'modelName', l.model_name, 'input', l.input, 'pricing', l.pricing, 'bounds', l.bounds, 'acceptedAt', l.created_at,
    'waitedMs', extract(epoch from l.started_at - l.created_at)::float8 * 1000,
    'hasWebhook', l.webhook_target is not null,
    'trace', (select t.trace from prediction_traces t where t.prediction_id = l.id))
$$;

create or replace function claim_predictions(node text, slots integer)
returns setof json language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  chosen text[] := next_jobs(slots);
begin
  if cardinality(chosen) = 0 then return; end if;
  perform lock_accounts('{}', '{}', '{}', chosen);
  return query select claimed_job(l) from start_chosen(node, chosen, slots) l;
end $$;

-- Returns claimed jobs to the queue, with the queue time they have left. Returns the ids that still had these claims.
create or replace function release_predictions(ids text[], claims integer[], died boolean)
returns setof text language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  released live_predictions[];
begin
  -- Locks only rows that still have these claims: a claim skips locked rows.
  perform 1 from live_predictions l join unnest(ids, claims) as g (id, claim) on g.id = l.id and g.claim = l.claim
    where l.started_at is not null order by l.id for update of l;
  with back as (
    update live_predictions l set started_at = null, holder = null, claim = l.claim + 1, counts_parallel = false,
      queue_until = l.queue_until + (clock_timestamp() - l.started_at),
      deaths = l.deaths + case when died then 1 else 0 end
    from unnest(ids, claims) as g (id, claim)
    where l.id = g.id and l.claim = g.claim and l.route = 'async' and l.started_at is not null returning l.*
  )
  select array_agg(b) into released from back b;
  if released is null then return; end if;
  perform 1 from wallets w where w.user_id in (select l.user_id from unnest(released) l) order by w.user_id for update;
  perform 1 from model_slots s where s.model_id in (select l.model_id from unnest(released) l)
    order by s.model_id for update;
  update wallets w set running = w.running - g.n, waiting = w.waiting + g.n
  from (select l.user_id, count(*)::integer as n from unnest(released) l group by 1) g where w.user_id = g.user_id;
  update model_slots s set running = s.running - g.n, waiting = s.waiting + g.n
  from (select l.model_id, count(*)::integer as n from unnest(released) l group by 1) g where s.model_id = g.model_id;
  update model_lines v set running = v.running - least(v.running, g.n)
  from (select l.model_id, l.user_id, count(*)::integer as n from unnest(released) l group by 1, 2) g
  where v.model_id = g.model_id and v.user_id = g.user_id;
  perform join_queue(l.model_id, l.user_id, l.high_priority, min(l.created_at)) from unnest(released) l
    group by l.model_id, l.user_id, l.high_priority;
  return query select l.id from unnest(released) l;
end $$;
