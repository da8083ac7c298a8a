-- Queues that do not slow down with what waits in them, and queued predictions on the way of 0021.
--
-- Measured before: a claim looked at everybody who waits (119 ms behind a million of a thousand users); every settlement
-- walked the line as far as slots were free, although nobody with a client was in it; and plans that were made while the
-- table was empty read all of it once it was not (3.5 ms of the server's CPU a job instead of 0.8).

-- Who waits for a model, and when they last had a turn there: walked in this order a line is served round, and as far as
-- there are hands, however long it is. A row stands here at the latest with the first that waits; it may outlive the last.
create table model_lines (
  model_id text not null,
  user_id text not null,
  high_priority boolean not null,
  last_turn timestamptz not null default '-infinity',
  primary key (model_id, user_id, high_priority)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);
create index model_lines_in_turn on model_lines (model_id, high_priority desc, last_turn) where user_id > '';

-- Plans are made while the tables are small, when any index looks as good as any other, and kept while they grow. So there
-- must be no other than the right one: the conditions that hold for every row (here, and of queue_until) keep an index from
-- queries that do not name them. For the same reason whether a row exists is asked with a limit: `exists` may be answered by
-- reading all of them once.

-- When a worker last took one of the model's: the models go round too. `last_turns` is left to servers of the version before.
alter table model_slots add column served_at timestamptz not null default '-infinity';
create index model_slots_with_line on model_slots (model_id) where waiting > 0;

create index live_predictions_places on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null;
drop index live_predictions_line;
drop index live_predictions_queue_until;
drop index live_predictions_queued;
create index live_predictions_for_workers on live_predictions (user_id)
  where started_at is null and holder is null and user_id > '';
create index live_predictions_overdue on live_predictions (queue_until)
  where started_at is null and queue_until > '-infinity';
create index live_predictions_waiting_clients on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and holder is not null and route <> 'agent';

-- The lines of those that wait and have none written down: such as were accepted while this migration was under way. Walks
-- from user to user, not from row to row.
create function mend_lines() returns void language sql set enable_seqscan = off as $$
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
select mend_lines();

-- The next of a model's line: high priority first, then who runs least there, then whose last turn is longest ago, then who
-- waits longest. Everybody's first comes before anybody's second. Queued ones and calls of agents are passed over where
-- their user may run no more in parallel. Of a crowd, those are compared whose turn is longest ago.
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
      else (
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.holder is not null
          and l.route <> 'agent' limit 1)
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
      -- Two ways, because who may run no more in parallel may have a million queued before the first with a client.
      (select * from live_predictions l
        where s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.holder is not null and l.route <> 'agent'
        order by l.created_at limit size.each)
    ) l
  ) line
  order by line.high_priority desc, line.turn, s.last_turn, line.created_at limit n
$$;

-- The users of those that were just started go to the end, or out of the line where nothing of theirs is left. The slots must
-- be locked.
create or replace function note_turns(started text[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- Some of those who have nothing in the line any more: what they waited for was cancelled or took too long. The slots must be
-- locked, so that nobody joins the line meanwhile.
create function leave_lines(touched_models text[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- As in 0020; where nobody with a client waits, nothing is walked.
create or replace function grant_slots(wanted text[], clients_only boolean)
returns table (id text, holder text, claim integer) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- What a worker with so many hands would take, in the order of the lines, within the capacity of the models and the parallel
-- limit of the users; the models are served in turn. Looked up without locks: take_jobs decides again under them.
create function choose_jobs(hands integer) returns text[] language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- Takes of the chosen what may run, at most `hands`. Their users' wallets and their models' slots must be locked.
create function take_jobs(node text, ids text[], hands integer) returns setof live_predictions language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- As in 0009. A claim that lost a race may be short: the worker asks again.
create or replace function claim_predictions(node text, hands integer) returns setof live_predictions language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- As in 0017, and they are in their lines again.
create or replace function release_predictions(ids text[], claims integer[], died boolean)
returns setof text language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- As in 0019, and whoever waits is in the line.
create or replace function admit_and_grant(
  user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint
) returns setof admission language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
declare
  decisions admission[];
  granted text[];
  elsewhere text[];
begin
  select array_agg(a order by a.n) into decisions
  from admit_predictions(user_ids, key_ids, model_ids, arrivals, month_now, now_ms) a;

  -- The slots are locked until the end of this transaction.
  if exists (select 1 from unnest(decisions) d where d.verdict = 'wait') then
    insert into model_lines (model_id, user_id, high_priority)
      select distinct model_ids[x.m], user_ids[x.u], x.high_priority
      from unnest(decisions) d
        join json_to_recordset(arrivals) as x (n int, u int, m int, high_priority boolean) on x.n = d.n
      where d.verdict = 'wait' on conflict do nothing;
    select array_agg(g.id) into granted from grant_slots(model_ids, false) g;
    select array_agg(id) into elsewhere from unnest(granted) id
    where id not in (select x.id from json_to_recordset(arrivals) as x (id text));
    perform pg_notify('gantry_granted', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(elsewhere) with ordinality g (id, i)) parts group by part;
  end if;
  return query
    select d.n, case when x.id = any (granted) then 'run' else d.verdict end, d.rate_limit, d.rate_remaining,
      d.rate_reset_ms, d.retry_after_ms
    from unnest(decisions) d join json_to_recordset(arrivals) as x (n int, id text) on x.n = d.n;
end $$;

alter function admit_predictions set enable_seqscan = off;
alter function settle_predictions set enable_seqscan = off;
alter function start_agent_calls set enable_seqscan = off;

-- As in 0021; whether something waits is told by the counters.
create or replace function hand_on_slots(touched_models text[], touched_users text[], out grants json, out wake boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
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

-- As in 0021, whose function is left to servers of the version before, and for queued predictions and agents' calls too.
--
-- Ends: also of queued ones, if they have no webhook, files or fragments (those end by settle_predictions); one with a
-- webhook is left alone. Whoever waits for the result of a queued one hears of its end.
--
-- Arrivals: also of the route agent, which are no requests of the plan's minute. One that names its run is admitted only as
-- in 0020: otherwise none is. And of the route async. They are never refused for want of capacity or of room in parallel: they wait in line,
-- or, where `hand_free` says so and nobody waits before them, start on this node, as if it had claimed them: all of those, or
-- none (`here_starts`). With so many `hands` free beside, the node takes what waits, as claim_predictions does. By user and by model, `clients` are the arrivals that have one, `here` those with a free hand.
create function write_predictions(
  end_ids text[], end_claims integer[], end_statuses integer[], end_inference_ms integer[], end_outputs text[],
  end_errors text[], end_input_tokens integer[], end_output_tokens integer[], end_cached_tokens integer[],
  end_stream_details text[], end_prices bigint[],
  ids text[], user_of integer[], key_of integer[], model_of integer[], routes text[], priorities boolean[],
  reservations bigint[], queue_seconds double precision[], node text,
  run_ids text[], hand_free boolean[], inputs text[], pricings text[], base_urls text[], webhook_destinations text[], webhook_targets text[],
  user_ids text[], user_requests integer[], user_clients integer[], user_here integer[], user_reservations bigint[],
  key_ids text[], key_reservations bigint[], month_now date,
  model_ids text[], model_names text[], model_arrivals integer[], model_clients integer[], model_here integer[],
  hands integer,
  out admitted boolean, out here_starts boolean, out rate_users text[], out rate_limits integer[], out rate_requests integer[],
  out rate_reset_ms bigint[], out ended_n integer[], out grants json, out wake boolean, out jobs json
) language plpgsql
-- The lists differ in length, and one plan fits all: by the primary keys, however few rows there were when it was made.
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
declare
  now_ms bigint := extract(epoch from clock_timestamp()) * 1000;
  at timestamptz;
  end_users text[]; end_models text[]; ends_count_months boolean := false;
  users_fit boolean; keys_fit boolean; models_fit boolean; runs_fit boolean := true;
  -- How many of each that may start here do: one or none.
  per_here integer; users_have_room boolean; models_have_room boolean;
  keys_have_limits boolean := false; key_months_of date[];
  has_line boolean;
  -- What has ended, by user, key and model.
  gone_users text[]; gone_parallel integer[]; gone_reserved bigint[];
  gone_keys text[]; gone_months date[]; gone_prices bigint[];
  gone_models text[]; gone_started integer[]; gone_waiting integer[]; gone_ended integer[]; gone_queued text[];
  chosen text[]; chosen_users text[]; chosen_models text[];
begin
  -- Runs are locked before wallets, as everywhere.
  if cardinality(run_ids) > 0 then
    perform 1 from runs r where r.id = any (run_ids) order by cardinality(r.ancestors), r.id for share;
    runs_fit := not exists (
      select 1 from unnest(run_ids, ids) as g (run_id, id) where g.run_id is not null and (
        select true from runs r where r.id = g.run_id and r.holder = node and r.call_id = g.id limit 1) is null);
  end if;
  if hands > 0 and exists (select 1 from model_slots where waiting > 0) then
    chosen := choose_jobs(hands);
    select array_agg(distinct l.user_id), array_agg(distinct l.model_id) into chosen_users, chosen_models
    from live_predictions l where l.id = any (chosen);
  end if;
  if cardinality(end_ids) > 0 then
    select array_agg(g.user_id), array_agg(g.model_id), bool_or(g.key_month is not null)
    into end_users, end_models, ends_count_months
    from (select l.user_id, l.model_id, l.key_month from live_predictions l where l.id = any (end_ids) group by 1, 2, 3) g;
  end if;

  -- A row that was waited for is read anew once it is locked, but only that row: what is computed from it must be computed
  -- in the list of columns, not in a joined function.
  select count(g.user_id) = cardinality(user_ids) and coalesce(bool_and(g.user_id is null
      or w.available >= g.reserved
        and (w.per_minute is null or (w.minute).requests + g.requests <= w.per_minute)
        and (g.clients = 0 or w.parallel is null or w.running + g.clients <= w.parallel)), true),
    coalesce(bool_and(g.user_id is null or w.parallel is null or w.running + g.clients + g.here <= w.parallel), true),
    array_agg(w.user_id) filter (where w.per_minute is not null),
    array_agg(w.per_minute) filter (where w.per_minute is not null),
    array_agg((w.minute).requests) filter (where w.per_minute is not null),
    array_agg(coalesce((w.minute).oldest_ms, now_ms) + 60000 - now_ms) filter (where w.per_minute is not null)
  into users_fit, users_have_room, rate_users, rate_limits, rate_requests, rate_reset_ms
  from (
    select wallets.user_id, wallets.balance_micros - wallets.reserved_micros as available, wallets.running,
      p.requests_per_minute as per_minute, p.parallel,
      case when p.requests_per_minute is not null then last_minute(wallets.hits, now_ms) end as minute
    from wallets join users u on u.id = wallets.user_id join plans p on p.name = u.plan
    where wallets.user_id = any (user_ids || end_users || chosen_users) order by wallets.user_id for update of wallets
  ) w left join unnest(user_ids, user_requests, user_clients, user_here, user_reservations)
      as g (user_id, requests, clients, here, reserved)
    on g.user_id = w.user_id;

  if cardinality(ids) > 0 then
    select bool_and(k.id is not null and k.revoked_at is null and u.disabled_at is null
        and (k.expires_at is null or k.expires_at > to_timestamp(now_ms / 1000.0))),
      bool_or(k.monthly_limit_micros is not null)
    into keys_fit, keys_have_limits
    from unnest(key_ids) as g (key_id) left join api_keys k on k.id = g.key_id left join users u on u.id = k.user_id;
  end if;
  if keys_have_limits then
    insert into key_months (key_id, month)
      select id, month_now from api_keys where id = any (key_ids) and monthly_limit_micros is not null order by id
      on conflict do nothing;
  end if;
  if keys_have_limits or ends_count_months then
    perform 1 from key_months m
      where m.key_id = any (key_ids) and m.month = month_now or (m.key_id, m.month) in (
        select l.key_id, l.key_month from live_predictions l where l.id = any (end_ids) and l.key_month is not null)
      order by m.key_id, m.month for update;
    select keys_fit and bool_and(k.monthly_limit_micros is null
        or m.spent_micros + m.reserved_micros + g.reserved < k.monthly_limit_micros),
      array_agg(case when k.monthly_limit_micros is not null then month_now end order by g.i)
    into keys_fit, key_months_of
    from unnest(key_ids, key_reservations) with ordinality as g (key_id, reserved, i)
      left join api_keys k on k.id = g.key_id left join key_months m on m.key_id = g.key_id and m.month = month_now;
  end if;

  select count(g.model_id) = cardinality(model_ids) and coalesce(bool_and(g.model_id is null
      or s.retired_at is null and s.capacity > 0
        and (g.clients = 0 or s.waiting = 0 and s.running + g.clients <= s.capacity)), true),
    coalesce(bool_and(g.model_id is null or s.waiting = 0 and s.running + g.clients + g.here <= s.capacity), true),
    coalesce(bool_or(s.waiting > 0), false)
  into models_fit, models_have_room, has_line
  from (
    select model_slots.model_id, model_slots.running, model_slots.waiting, m.capacity, m.retired_at
    from model_slots join models m on m.id = model_slots.model_id
    where model_slots.model_id = any (model_ids || end_models || chosen_models) order by model_slots.model_id for update of model_slots
  ) s left join unnest(model_ids, model_clients, model_here) as g (model_id, clients, here) on g.model_id = s.model_id;
  at := clock_timestamp();

  if end_users is not null then
    with gone as (
      delete from live_predictions l
      using unnest(end_ids, end_claims, end_statuses, end_inference_ms, end_outputs, end_errors, end_input_tokens,
          end_output_tokens, end_cached_tokens, end_stream_details, end_prices) with ordinality
        as g (id, claim, status, inference_ms, output, error, input_tokens, output_tokens, cached_tokens,
          stream_details, price, i)
      where l.id = g.id and l.claim = g.claim and l.webhook_target is null
      returning l.id, l.user_id, l.key_id, l.model_id, l.model_name, l.route, l.created_at, l.started_at,
        l.reserved_micros, l.key_month, l.counts_parallel, g.status, g.inference_ms, g.output, g.error,
        g.input_tokens, g.output_tokens, g.cached_tokens, g.stream_details, g.price, g.i
    ), results as (
      insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
        ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, stream_details)
      select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
        output::json, error::json, input_tokens, output_tokens, cached_tokens, stream_details::json
      from gone
    ), used as (
      insert into usage (request_id, user_id, model_name, route, status, created_at, inference_ms, input_tokens,
        output_tokens, cached_tokens, price_micros)
      select id, user_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens, price
      from gone
    ), charged as (
      insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
      select at, 'charge', 'user:' || user_id, 'platform', price, id from gone where price > 0
    ), summed as (
      select user_id, key_id, key_month, model_id, model_name, count(*)::integer as ended,
        count(*) filter (where price > 0) as paid, sum(price)::bigint as price,
        sum(reserved_micros)::bigint as reserved, count(*) filter (where counts_parallel)::integer as parallel,
        count(started_at)::integer as started
      from gone group by 1, 2, 3, 4, 5
    ), hours as (
      insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
      select user_id, date_trunc('hour', at), model_name, sum(ended), sum(paid), sum(price) from summed group by 1, 3
      on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
        paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
    )
    select array_agg(user_id), array_agg(-parallel), array_agg(-reserved), array_agg(key_id), array_agg(key_month),
      array_agg(price), array_agg(model_id), array_agg(-started), array_agg(started - ended), array_agg(ended),
      case when sum(ended) is distinct from cardinality(end_ids)
        then coalesce((select array_agg(i::integer - 1) from gone), '{}') end,
      (select array_agg(id) from gone where route = 'async')
    into gone_users, gone_parallel, gone_reserved, gone_keys, gone_months, gone_prices, gone_models, gone_started,
      gone_waiting, gone_ended, ended_n, gone_queued
    from summed;
    -- A notification carries 8000 bytes.
    if gone_queued is not null then
      perform pg_notify('gantry_ended', string_agg(id, ','))
        from (select id, (i - 1) / 200 as part from unnest(gone_queued) with ordinality g (id, i)) parts group by part;
    end if;
  elsif cardinality(end_ids) > 0 then
    ended_n := '{}';
  end if;

  admitted := cardinality(ids) > 0 and runs_fit and users_fit and keys_fit and models_fit;
  here_starts := users_have_room and models_have_room;
  per_here := here_starts::integer;
  if admitted then
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder,
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], model_names[x.m], x.route, x.high_priority,
      case when x.starts then node end, x.reservation, x.starts, key_months_of[x.k], case when x.starts then at end,
      at + make_interval(secs => x.seconds), x.input::json, x.pricing::json, x.base_url, x.webhook_destination,
      decode(x.webhook_target, 'base64')
    from (
      select *, g.route <> 'async' or g.here and here_starts as starts
      from unnest(ids, user_of, key_of, model_of, routes, priorities, reservations, queue_seconds, hand_free, inputs, pricings,
        base_urls, webhook_destinations, webhook_targets)
        as g (id, u, k, m, route, high_priority, reservation, seconds, here, input, pricing, base_url,
          webhook_destination, webhook_target)
    ) x;
    if 'async' = any (routes) then
      insert into model_lines (model_id, user_id, high_priority)
        select distinct model_ids[x.m], user_ids[x.u], x.high_priority
        from unnest(user_of, model_of, routes, priorities, hand_free) as x (u, m, route, high_priority, here)
        where x.route = 'async' and not (x.here and here_starts) on conflict do nothing;
    end if;
  else
    user_ids := '{}'; user_requests := '{}'; user_clients := '{}'; user_here := '{}'; user_reservations := '{}';
    model_ids := '{}'; model_arrivals := '{}'; model_clients := '{}'; model_here := '{}';
  end if;
  -- Of the lists that are chained here, a shorter one belongs to the first part; what has none is null.
  update wallets w set running = w.running + d.running, reserved_micros = w.reserved_micros + d.reserved,
    hits = case when d.requests > 0 and r.per_minute is not null
      then add_hits(w.hits, now_ms, d.requests, r.per_minute) else w.hits end
  from (
    select user_id, (sum(running) + per_here * coalesce(sum(here), 0))::integer as running,
      sum(reserved)::bigint as reserved, sum(requests)::integer as requests
    from unnest(user_ids || gone_users, user_clients || gone_parallel, user_reservations || gone_reserved, user_requests,
      user_here) as g (user_id, running, reserved, requests, here)
    group by 1
  ) d left join unnest(rate_users, rate_limits) as r (user_id, per_minute) on r.user_id = d.user_id
  where w.user_id = d.user_id and (d.running <> 0 or d.reserved <> 0 or r.per_minute is not null and d.requests > 0);
  if keys_have_limits or ends_count_months then
    update key_months m set reserved_micros = m.reserved_micros + d.reserved, spent_micros = m.spent_micros + d.spent
    from (
      select key_id, month, sum(reserved)::bigint as reserved, coalesce(sum(spent), 0)::bigint as spent
      from unnest(gone_keys || case when admitted then key_ids end, gone_months || case when admitted then key_months_of end,
        gone_reserved || case when admitted then key_reservations end, gone_prices) as g (key_id, month, reserved, spent)
      where month is not null group by 1, 2
    ) d
    where m.key_id = d.key_id and m.month = d.month;
  end if;
  update model_slots s set running = s.running + d.running, waiting = s.waiting + d.waiting
  from (
    select model_id, (sum(running) + per_here * coalesce(sum(here), 0))::integer as running,
      (coalesce(sum(waiting), 0) + coalesce(sum(arrivals) - sum(clients) - per_here * sum(here), 0))::integer as waiting
    from unnest(model_ids || gone_models, model_clients || gone_started, model_arrivals, model_clients, model_here,
      array_fill(null::integer, array[cardinality(model_ids)]) || gone_waiting)
      as g (model_id, running, arrivals, clients, here, waiting)
    group by 1
  ) d
  where s.model_id = d.model_id and (d.running <> 0 or d.waiting <> 0);
  insert into model_flow as f (model_id, second, ended, accepted)
    select model_id, extract(epoch from at)::bigint, coalesce(sum(ended), 0), coalesce(sum(accepted), 0)
    from (
      select unnest(gone_models) as model_id, unnest(gone_ended) as ended, 0 as accepted
      union all select unnest(model_ids), 0, unnest(model_arrivals)
    ) g
    group by 1
    on conflict (model_id, second) do update set ended = f.ended + excluded.ended,
      accepted = f.accepted + excluded.accepted;

  if cardinality(chosen) > 0 then
    select json_agg(json_build_object('id', j.id, 'claim', j.claim, 'userId', j.user_id, 'modelId', j.model_id,
      'modelName', j.model_name, 'input', j.input, 'pricing', j.pricing, 'acceptedAt', j.created_at,
      'waitedMs', extract(epoch from j.started_at - j.created_at)::float8 * 1000,
      'hasWebhook', j.webhook_target is not null,
      'trace', (select t.trace from prediction_traces t where t.prediction_id = j.id)))
    into jobs from take_jobs(node, chosen, hands) j;
  end if;
  wake := false;
  if gone_users is not null and (has_line
    or exists (select 1 from live_predictions
      where user_id = any (gone_users) and user_id > '' and started_at is null and holder is null)
    or exists (select 1 from live_predictions where route = 'agent' and started_at is null)
  ) then
    select h.grants, h.wake into grants, wake from hand_on_slots(gone_models, gone_users) h;
  end if;
end $$;
