-- Model calls of agents' runs. Such a call is a prediction of the route `agent`: the node that works on the run holds it as
-- if it were a client, but it is never refused for the plan's parallel limit, it waits for its turn. So it starts as a
-- queued one does: under the lock of its user's wallet, by the node that holds it (`start_agent_calls`). Nodes hear by
-- NOTIFY when it is worth a look, and look by themselves every few seconds.

create index live_predictions_calls on live_predictions (holder) where route = 'agent' and started_at is null;

-- As in 0009; a call of an agent starts at once where its user and its model have room, and is no request of the plan's
-- minute: creating the run was. An arrival that names its `run` is admitted only while its holder works on that run and the
-- call is the run's next one: a node that was taken for dead and wakes up late neither calls nor pays for anything. Runs are
-- locked before wallets, as everywhere.
create or replace function admit_predictions(
  user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint
) returns setof admission language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  a record;
  decision admission;
  decisions admission[] := '{}';
  -- By user.
  available bigint[]; running int[]; per_minute int[]; parallel int[]; hits_now int[]; oldest_hit bigint[];
  added_running int[]; added_reserved bigint[]; added_hits int[];
  -- By key; a limit of null is none.
  key_works boolean[]; key_limit bigint[]; key_used bigint[]; added_key bigint[];
  -- By model.
  capacity int[]; retired boolean[]; model_running int[]; model_waiting int[];
  accepted_n int[] := '{}'; accepted_starts boolean[] := '{}'; accepted_counts boolean[] := '{}';
  with_client boolean; starts boolean; counts boolean;
begin
  if position('"run":' in arrivals::text) > 0 then
    perform 1 from runs r where r.id in (select x.run from json_to_recordset(arrivals) as x (run text))
      order by cardinality(r.ancestors), r.id for share;
  end if;
  perform 1 from wallets where user_id = any (user_ids) order by user_id for update;
  select array_agg(w.balance_micros - w.reserved_micros order by g.i), array_agg(w.running order by g.i),
    array_agg(p.requests_per_minute order by g.i), array_agg(p.parallel order by g.i),
    array_agg(case when p.requests_per_minute is null then 0 else h.n end order by g.i),
    array_agg(h.oldest order by g.i), array_agg(0 order by g.i), array_agg(0::bigint order by g.i),
    array_agg(0 order by g.i)
  into available, running, per_minute, parallel, hits_now, oldest_hit, added_running, added_reserved, added_hits
  from unnest(user_ids) with ordinality g (user_id, i)
    left join wallets w on w.user_id = g.user_id
    left join users u on u.id = g.user_id
    left join plans p on p.name = u.plan
    cross join lateral (
      select coalesce(sum(w.hits[2 * j]), 0)::int as n, min(w.hits[2 * j - 1]) as oldest
      from generate_series(1, cardinality(w.hits) / 2) j where w.hits[2 * j - 1] > now_ms - 60000
    ) h;

  if exists (select 1 from api_keys where id = any (key_ids) and monthly_limit_micros is not null) then
    insert into key_months (key_id, month)
      select id, month_now from api_keys where id = any (key_ids) and monthly_limit_micros is not null order by id
      on conflict do nothing;
    perform 1 from key_months where key_id = any (key_ids) and month = month_now order by key_id for update;
  end if;
  select array_agg(k.id is not null and k.revoked_at is null and u.disabled_at is null
      and (k.expires_at is null or k.expires_at > to_timestamp(now_ms / 1000.0)) order by g.i),
    array_agg(k.monthly_limit_micros order by g.i),
    array_agg(coalesce(m.spent_micros + m.reserved_micros, 0) order by g.i), array_agg(0::bigint order by g.i)
  into key_works, key_limit, key_used, added_key
  from unnest(key_ids) with ordinality g (key_id, i)
    left join api_keys k on k.id = g.key_id
    left join users u on u.id = k.user_id
    left join key_months m on m.key_id = g.key_id and m.month = month_now and k.monthly_limit_micros is not null;

  perform 1 from model_slots where model_id = any (model_ids) order by model_id for update;
  if (select count(*) from model_slots where model_id = any (model_ids)) < cardinality(model_ids) then
    -- Called for the first time.
    insert into model_slots (model_id) select id from models where id = any (model_ids) order by id on conflict do nothing;
    perform 1 from model_slots where model_id = any (model_ids) order by model_id for update;
  end if;
  select array_agg(m.capacity order by g.i), array_agg(m.id is null or m.retired_at is not null order by g.i),
    array_agg(s.running order by g.i), array_agg(s.waiting order by g.i)
  into capacity, retired, model_running, model_waiting
  from unnest(model_ids) with ordinality g (model_id, i)
    left join models m on m.id = g.model_id left join model_slots s on s.model_id = g.model_id;

  for a in
    select * from json_to_recordset(arrivals) as x (n int, u int, k int, m int, route text, reservation bigint, purpose text,
      run text, id text, holder text)
    order by n
  loop
    with_client := a.route in ('sync', 'stream');
    decision := row(a.n, null, per_minute[a.u], null, null, null);
    decision.verdict := case
      when a.run is not null and not exists (
        select 1 from runs r where r.id = a.run and r.holder = a.holder and r.call_id = a.id) then 'run_lost'
      when not key_works[a.k] or available[a.u] is null then 'key_gone'
      when retired[a.m] then 'model_retired'
      when capacity[a.m] = 0 then 'model_inactive'
      -- The price of the run itself, and of those above it, is reserved already and no reason against their own calls.
      when available[a.u] < 0 or key_used[a.k] >= key_limit[a.k] then case when exists (
        select 1 from (
          select sum(r.price_micros) as price from runs c join runs r on r.id = any (c.ancestors || c.id) where c.id = a.run
        ) own where own.price > 0 and available[a.u] + own.price >= 0
          and coalesce(key_used[a.k] - own.price < key_limit[a.k], true)
      ) then 'run' else 'no_funds' end
      when a.route <> 'agent' and hits_now[a.u] >= per_minute[a.u] then 'rate_limit'
      when with_client and running[a.u] >= parallel[a.u] then 'too_many_parallel'
      else 'run'
    end;
    if decision.verdict = 'rate_limit' then
      -- The moment at which enough of the oldest have left the window.
      select greatest(1, moment + 60000 - now_ms) into decision.retry_after_ms from (
        select w.hits[2 * j - 1] as moment, sum(w.hits[2 * j]) over (order by j) as gone
        from wallets w cross join generate_series(1, cardinality(w.hits) / 2) j
        where w.user_id = user_ids[a.u] and w.hits[2 * j - 1] > now_ms - 60000
      ) line where gone > hits_now[a.u] - added_hits[a.u] - per_minute[a.u] order by moment limit 1;
      -- All of them arrived in this very batch.
      decision.retry_after_ms := coalesce(decision.retry_after_ms, 60000);
    elsif decision.verdict = 'too_many_parallel' then
      decision.retry_after_ms := 1000;
    elsif decision.verdict = 'run' then
      if a.purpose <> 'look' and a.route <> 'agent' and per_minute[a.u] is not null then
        hits_now[a.u] := hits_now[a.u] + 1;
        added_hits[a.u] := added_hits[a.u] + 1;
        oldest_hit[a.u] := coalesce(oldest_hit[a.u], now_ms);
      end if;
      if a.purpose = 'run' then
        available[a.u] := available[a.u] - a.reservation;
        added_reserved[a.u] := added_reserved[a.u] + a.reservation;
        if key_limit[a.k] is not null then
          key_used[a.k] := key_used[a.k] + a.reservation;
          added_key[a.k] := added_key[a.k] + a.reservation;
        end if;
        starts := model_waiting[a.m] = 0 and model_running[a.m] < capacity[a.m]
          and (with_client or a.route = 'agent' and coalesce(running[a.u] < parallel[a.u], true));
        if starts then
          model_running[a.m] := model_running[a.m] + 1;
        else
          model_waiting[a.m] := model_waiting[a.m] + 1;
          decision.verdict := 'wait';
        end if;
        counts := with_client or starts;
        if counts then
          running[a.u] := running[a.u] + 1;
          added_running[a.u] := added_running[a.u] + 1;
        end if;
        accepted_n := accepted_n || a.n;
        accepted_starts := accepted_starts || starts;
        accepted_counts := accepted_counts || counts;
      end if;
    end if;
    if per_minute[a.u] is not null then
      decision.rate_remaining := greatest(0, per_minute[a.u] - hits_now[a.u]);
      decision.rate_reset_ms := coalesce(oldest_hit[a.u] + 60000 - now_ms, 0);
    end if;
    decisions := decisions || decision;
  end loop;

  if cardinality(accepted_n) > 0 then
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder,
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], x.model_name, x.route, x.high_priority, x.holder,
      x.reservation, a2.counts, case when key_limit[x.k] is not null then month_now end,
      case when a2.starts then clock_timestamp() end, now() + make_interval(secs => x.queue_seconds), x.input::json,
      x.pricing::json, x.base_url, x.webhook_destination, decode(x.webhook_target, 'base64')
    from json_to_recordset(arrivals) as x (n int, id text, u int, k int, m int, model_name text, route text,
        high_priority boolean, holder text, reservation bigint, queue_seconds double precision, input text, pricing text,
        base_url text, webhook_destination text, webhook_target text)
      join unnest(accepted_n, accepted_starts, accepted_counts) as a2 (n, starts, counts) on a2.n = x.n;
    update model_slots s set running = g.running, waiting = g.waiting
    from unnest(model_ids, model_running, model_waiting) as g (model_id, running, waiting)
    where s.model_id = g.model_id and (s.running <> g.running or s.waiting <> g.waiting);
    insert into model_flow as f (model_id, second, accepted)
      select model_ids[x.m], now_ms / 1000, count(*)
      from json_to_recordset(arrivals) as x (n int, m int) where x.n = any (accepted_n) group by 1
      on conflict (model_id, second) do update set accepted = f.accepted + excluded.accepted;
    update key_months m set reserved_micros = m.reserved_micros + g.added
    from unnest(key_ids, added_key) as g (key_id, added)
    where m.key_id = g.key_id and m.month = month_now and g.added > 0;
  end if;
  update wallets w set running = w.running + g.running, reserved_micros = w.reserved_micros + g.reserved,
    hits = case when g.hits = 0 then w.hits else add_hits(w.hits, now_ms, g.hits, g.per_minute) end
  from unnest(user_ids, added_running, added_reserved, added_hits, per_minute)
    as g (user_id, running, reserved, hits, per_minute)
  where w.user_id = g.user_id and (g.running > 0 or g.reserved > 0 or g.hits > 0);
  return query select * from unnest(decisions);
end $$;

-- As in 0009; a call of an agent is passed over where its user may run no more in parallel.
create or replace function next_in_line(wanted text, n integer, clients_only boolean)
returns table (id text, user_id text, holder text, claim integer) language sql stable as $$
  with recursive waiting_users as (
    (select l.user_id from live_predictions l where l.model_id = wanted and l.started_at is null
      order by l.user_id limit 1)
    union all
    select (select l.user_id from live_predictions l where l.model_id = wanted and l.started_at is null
      and l.user_id > w.user_id order by l.user_id limit 1)
    from waiting_users w where w.user_id is not null
  ), standing as (
    select w.user_id, t.at as last_turn, coalesce(p.parallel - wallets.running, n) as room, (
        select count(*) from live_predictions r
        where r.model_id = wanted and r.user_id = w.user_id and r.started_at is not null
      ) as running
    from waiting_users w join wallets on wallets.user_id = w.user_id join users u on u.id = w.user_id
      join plans p on p.name = u.plan left join last_turns t on t.model_id = wanted and t.user_id = w.user_id
  )
  select line.id, line.user_id, line.holder, line.claim
  from standing s cross join lateral (
    select l.*, row_number() over (order by l.high_priority desc, l.created_at) + s.running as turn
    from (
      select * from live_predictions l
      where l.model_id = wanted and l.user_id = s.user_id and l.started_at is null
        and case when l.holder is null or l.route = 'agent' then not clients_only and s.room > 0 else true end
      order by l.high_priority desc, l.created_at limit n
    ) l
  ) line
  order by line.high_priority desc, line.turn, s.last_turn nulls first, line.created_at limit n
$$;

-- As in 0009; calls of agents keep their place in the line and their slot, like queued ones.
create or replace function grant_slots(wanted text[], clients_only boolean)
returns table (id text, holder text, claim integer) language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  model record;
  started text[];
begin
  for model in
    select s.model_id, m.capacity - s.running as free from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (wanted) and s.waiting > 0 and s.running < m.capacity order by s.model_id
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
  end loop;
end $$;

-- Starts what this node holds of agents' calls, in the order of their lines, within the capacity of the models and the
-- parallel limit of the users. Who is chosen is looked up without locks and decided again under them, as in
-- claim_predictions.
create function start_agent_calls(node text) returns setof text language plpgsql
set plan_cache_mode = force_generic_plan as $$
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
    select l.id, l.user_id, l.model_id from unnest(ids) with ordinality g (id, i) join live_predictions l on l.id = g.id
    where l.started_at is null order by g.i
  loop
    u := array_position(user_ids, call.user_id);
    m := array_position(models_wanted, call.model_id);
    if user_room[u] > 0 and model_room[m] > 0 then
      user_room[u] := user_room[u] - 1;
      model_room[m] := model_room[m] - 1;
      taken := taken || call.id;
    end if;
  end loop;
  if cardinality(taken) = 0 then return; end if;

  update live_predictions l set started_at = clock_timestamp(), counts_parallel = true where l.id = any (taken);
  update wallets w set running = w.running + d.n
  from (select l.user_id, count(*)::int as n from live_predictions l where l.id = any (taken) group by 1) d
  where w.user_id = d.user_id;
  update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n
  from (select l.model_id, count(*)::int as n from live_predictions l where l.id = any (taken) group by 1) d
  where s.model_id = d.model_id;
  perform note_turns(taken);
  return query select unnest(taken);
end $$;

-- As in 0017; whoever holds a waiting call of an agent hears that a slot or its user's room may be free.
create or replace function settle_predictions(endings json) returns json language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  ids text[];
  ended text[];
  ended_n int[];
  touched_models text[];
  touched_users text[];
  queued text[];
  grants json;
  webhooks json;
  inputs json;
  wake boolean := false;
begin
  select array_agg(x.id) into ids from json_to_recordset(endings) as x (id text);
  perform 1 from wallets where user_id in (select user_id from live_predictions where id = any (ids))
    order by user_id for update;
  perform 1 from key_months m where (m.key_id, m.month) in (
      select key_id, key_month from live_predictions where id = any (ids) and key_month is not null)
    order by m.key_id, m.month for update;
  perform 1 from model_slots where model_id in (select model_id from live_predictions where id = any (ids))
    order by model_id for update;

  with given as (
    select * from json_to_recordset(endings) as x (n int, id text, claim int, status int, inference_ms int, output text,
      error text, input_tokens int, output_tokens int, cached_tokens int, stream_details text, price bigint)
  ), gone as (
    delete from live_predictions l using given g where l.id = g.id and l.claim = g.claim
    returning l.*, g.n, g.status, g.inference_ms, g.output, g.error, g.input_tokens, g.output_tokens, g.cached_tokens,
      g.stream_details, g.price, clock_timestamp() as at
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
  ), summed as (
    insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
    select user_id, date_trunc('hour', at), model_name, count(*), count(*) filter (where price > 0), sum(price)
    from gone group by 1, 2, 3
    on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
      paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
  ), released as (
    update wallets w set reserved_micros = w.reserved_micros - d.reserved, running = w.running - d.running
    from (
      select user_id, sum(reserved_micros)::bigint as reserved, count(*) filter (where counts_parallel)::int as running
      from gone group by user_id
    ) d
    where w.user_id = d.user_id and (d.reserved <> 0 or d.running <> 0)
  ), months as (
    update key_months m set reserved_micros = m.reserved_micros - d.reserved, spent_micros = m.spent_micros + d.price
    from (
      select key_id, key_month, sum(reserved_micros)::bigint as reserved, sum(price)::bigint as price
      from gone where key_month is not null group by key_id, key_month
    ) d
    where m.key_id = d.key_id and m.month = d.key_month
  ), charged as (
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
    select at, 'charge', 'user:' || user_id, 'platform', price, id from gone where price > 0
  ), freed as (
    update model_slots s set running = s.running - d.running, waiting = s.waiting - d.waiting
    from (
      select model_id, count(started_at)::int as running, (count(*) - count(started_at))::int as waiting
      from gone group by model_id
    ) d
    where s.model_id = d.model_id
  ), flowed as (
    insert into model_flow as f (model_id, second, ended)
      select model_id, extract(epoch from at)::bigint, count(*) from gone group by 1, 2
      on conflict (model_id, second) do update set ended = f.ended + excluded.ended
  )
  select array_agg(id), array_agg(n), array_agg(distinct model_id), array_agg(distinct user_id),
    array_agg(id) filter (where route = 'async'),
    json_agg(json_build_object('n', n, 'id', id, 'user_id', user_id, 'model_name', model_name,
      'destination', webhook_destination, 'target', encode(webhook_target, 'base64'), 'base_url', base_url))
      filter (where webhook_target is not null),
    json_agg(json_build_object('id', id, 'input', input)) filter (where input::text like '%"$file"%')
  into ended, ended_n, touched_models, touched_users, queued, webhooks, inputs
  from gone;

  if exists (select 1 from model_slots where model_id = any (touched_models) and waiting > 0) then
    select json_agg(g) into grants from grant_slots(touched_models, false) g;
    wake := exists (select 1 from live_predictions
      where model_id = any (touched_models) and started_at is null and holder is null);
  end if;
  wake := wake or exists (select 1 from live_predictions
    where user_id = any (touched_users) and started_at is null and holder is null);
  if exists (select 1 from live_predictions where route = 'agent' and started_at is null
    and (user_id = any (touched_users) or model_id = any (touched_models))) then
    perform pg_notify('gantry_calls', '');
  end if;
  if queued is not null then
    delete from prediction_fragments where prediction_id = any (queued);
    -- Whoever waits for one of them hears of it; a notification carries 8000 bytes.
    perform pg_notify('gantry_ended', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(queued) with ordinality g (id, i)) parts group by part;
  end if;
  return json_build_object('ended', coalesce(ended, '{}'), 'ended_n', coalesce(ended_n, '{}'),
    'grants', coalesce(grants, '[]'), 'webhooks', coalesce(webhooks, '[]'), 'inputs', coalesce(inputs, '[]'),
    'wake', wake);
end $$;
