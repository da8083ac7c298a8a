-- What a prediction reserved stays with what it was charged, usage names the key that caused it, and tokens written to a
-- provider's cache are counted.

alter table usage
  -- Null in rows of before this migration.
  add column key_id text,
  add column reserved_micros bigint,
  add column cache_write_tokens integer not null default 0;
alter table ended_predictions add column cache_write_tokens integer not null default 0;
alter table run_steps add column cache_write_tokens integer not null default 0;
alter table runs add column cache_write_tokens bigint not null default 0;
-- The amounts that a queued prediction reserved, in the units of its prices. The charge stays within them.
alter table live_predictions add column bounds json;

-- Used by servers of before 0023 only.
drop function write_predictions(
  text[], integer[], integer[], integer[], text[], text[], integer[], integer[], integer[], text[], bigint[],
  text[], integer[], integer[], integer[], text[], boolean[], bigint[], double precision[], text,
  text[], integer[], bigint[], text[], bigint[], date, text[], text[], integer[]);

-- As in 0031. The price of an ending is at most what its prediction reserved, whatever the caller asks for.
create or replace function settle_predictions(endings json) returns json language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  ids text[];
  ended text[];
  ended_n int[];
  touched_models text[];
  touched_users text[];
  words json;
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
      error text, input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int, stream_details text,
      price bigint, said json)
  ), gone as (
    delete from live_predictions l using given g where l.id = g.id and l.claim = g.claim
    returning l.*, g.n, g.status, g.inference_ms, g.output, g.error, g.input_tokens, g.output_tokens, g.cached_tokens,
      coalesce(g.cache_write_tokens, 0) as cache_write_tokens, g.stream_details, g.said,
      least(g.price, l.reserved_micros) as price, clock_timestamp() as at
  ), results as (
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
      ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details)
    select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
      output::json, error::json, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details::json
    from gone
  ), used as (
    insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, inference_ms, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reserved_micros, price_micros)
    select id, user_id, key_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, reserved_micros, price
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
    json_agg(json_build_object('id', id, 'said', said)) filter (where said is not null),
    json_agg(json_build_object('n', n, 'id', id, 'user_id', user_id, 'model_name', model_name,
      'destination', webhook_destination, 'target', encode(webhook_target, 'base64'), 'base_url', base_url))
      filter (where webhook_target is not null),
    json_agg(json_build_object('id', id, 'input', input)) filter (where input::text like '%"$file"%')
  into ended, ended_n, touched_models, touched_users, words, webhooks, inputs
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
  if ended is not null then
    -- A statement of its own: it sees what was still being written when the rows above were locked.
    with written as (
      delete from prediction_fragments where prediction_id = any (ended)
      returning prediction_id, claim, seq, field, fragment
    ), said as (
      select * from written
      -- Not `all`: a piece may have been written although its writer does not know it yet.
      union select w.id, f.claim, f.seq, f.field, f.fragment
      from json_to_recordset(words) as w (id text, said json)
        cross join lateral json_to_recordset(w.said) as f (claim integer, seq integer, field text, fragment text)
    )
    update ended_predictions e set said = s.fragments
    from (
      select prediction_id, json_agg(json_build_object('claim', claim, 'seq', seq, 'field', field,
        'fragment', fragment) order by claim, seq) as fragments
      from said group by prediction_id
    ) s
    where e.id = any (ended) and e.id = s.prediction_id and e.status <> 200;
    -- Whoever waits for one of them hears of it; a notification carries 8000 bytes.
    perform pg_notify('gantry_ended', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(ended) with ordinality g (id, i)) parts group by part;
  end if;
  return json_build_object('ended', coalesce(ended, '{}'), 'ended_n', coalesce(ended_n, '{}'),
    'grants', coalesce(grants, '[]'), 'webhooks', coalesce(webhooks, '[]'), 'inputs', coalesce(inputs, '[]'),
    'wake', wake);
end $$;

-- As in 0023, and as above: the price is at most what was reserved. Lists of cache writes and of bounds are new.
create function write_predictions(
  end_ids text[], end_claims integer[], end_statuses integer[], end_inference_ms integer[], end_outputs text[],
  end_errors text[], end_input_tokens integer[], end_output_tokens integer[], end_cached_tokens integer[],
  end_cache_write_tokens integer[], end_stream_details text[], end_prices bigint[],
  ids text[], user_of integer[], key_of integer[], model_of integer[], routes text[], priorities boolean[],
  reservations bigint[], queue_seconds double precision[], node text,
  run_ids text[], hand_free boolean[], inputs text[], pricings text[], bounds text[], base_urls text[], webhook_destinations text[], webhook_targets text[],
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
          end_output_tokens, end_cached_tokens, end_cache_write_tokens, end_stream_details, end_prices) with ordinality
        as g (id, claim, status, inference_ms, output, error, input_tokens, output_tokens, cached_tokens,
          cache_write_tokens, stream_details, price, i)
      where l.id = g.id and l.claim = g.claim and l.webhook_target is null
      returning l.id, l.user_id, l.key_id, l.model_id, l.model_name, l.route, l.created_at, l.started_at,
        l.reserved_micros, l.key_month, l.counts_parallel, g.status, g.inference_ms, g.output, g.error,
        g.input_tokens, g.output_tokens, g.cached_tokens, coalesce(g.cache_write_tokens, 0) as cache_write_tokens,
        g.stream_details, least(g.price, l.reserved_micros) as price, g.i
    ), results as (
      insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
        ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, cache_write_tokens,
        stream_details)
      select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
        output::json, error::json, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details::json
      from gone
    ), used as (
      insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, inference_ms, input_tokens,
        output_tokens, cached_tokens, cache_write_tokens, reserved_micros, price_micros)
      select id, user_id, key_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, reserved_micros, price
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
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, bounds, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], model_names[x.m], x.route, x.high_priority,
      case when x.starts then node end, x.reservation, x.starts, key_months_of[x.k], case when x.starts then at end,
      at + make_interval(secs => x.seconds), x.input::json, x.pricing::json, x.bounds::json, x.base_url,
      x.webhook_destination, decode(x.webhook_target, 'base64')
    from (
      select *, g.route <> 'async' or g.here and here_starts as starts
      from unnest(ids, user_of, key_of, model_of, routes, priorities, reservations, queue_seconds, hand_free, inputs, pricings,
        bounds, base_urls, webhook_destinations, webhook_targets)
        as g (id, u, k, m, route, high_priority, reservation, seconds, here, input, pricing, bounds, base_url,
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
      'modelName', j.model_name, 'input', j.input, 'pricing', j.pricing, 'bounds', j.bounds, 'acceptedAt', j.created_at,
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

-- For servers of the version before.
create or replace function write_predictions(
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
) language sql as $$
  select * from write_predictions(
    end_ids, end_claims, end_statuses, end_inference_ms, end_outputs, end_errors, end_input_tokens,
    end_output_tokens, end_cached_tokens, null, end_stream_details, end_prices, ids, user_of, key_of, model_of,
    routes, priorities, reservations, queue_seconds, node, run_ids, hand_free, inputs, pricings, null,
    base_urls, webhook_destinations, webhook_targets, user_ids, user_requests, user_clients, user_here,
    user_reservations, key_ids, key_reservations, month_now, model_ids, model_names, model_arrivals,
    model_clients, model_here, hands)
$$;

-- As in 0020, 0035 and 0042, and a key's monthly limit covers the reservation of every call. (`write_predictions` admits only
-- what fits, and leaves all else to this function.)
create or replace function admit_predictions(
  user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint
) returns setof admission language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
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
      from generate_series(1, cardinality(w.hits) / 2) j
      where w.hits[2 * j - 1] > now_ms - 60000 and w.hits[2 * j - 1] <= now_ms + hit_slack_ms()
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
      run text, id text, holder text, must_be_covered boolean)
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
      -- Charges stay within reservations, so that a key never spends more than its limit in a month.
      when key_used[a.k] + a.reservation > key_limit[a.k] then 'no_funds'
      when a.must_be_covered and a.reservation > 0 and available[a.u] < a.reservation then 'no_funds'
      -- The price of the run itself, and of its ancestors, is reserved already and does not refuse their own calls.
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
        where w.user_id = user_ids[a.u] and w.hits[2 * j - 1] > now_ms - 60000 and w.hits[2 * j - 1] <= now_ms + hit_slack_ms()
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
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, bounds, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], x.model_name, x.route, x.high_priority, x.holder,
      x.reservation, a2.counts, case when key_limit[x.k] is not null then month_now end,
      case when a2.starts then clock_timestamp() end, now() + make_interval(secs => x.queue_seconds), x.input::json,
      x.pricing::json, x.bounds::json, x.base_url, x.webhook_destination, decode(x.webhook_target, 'base64')
    from json_to_recordset(arrivals) as x (n int, id text, u int, k int, m int, model_name text, route text,
        high_priority boolean, holder text, reservation bigint, queue_seconds double precision, input text, pricing text,
        bounds text, base_url text, webhook_destination text, webhook_target text)
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

-- As in 0022, with cache writes.
create or replace function write_plain_changes(changes json) returns json language sql
set plan_cache_mode = force_generic_plan as $$
  with given as materialized (
    select distinct on (x.id) x.* from json_to_recordset(changes) as x (n int, id text, claim int, holder text, seq int,
        hold bigint, phase text, call_id text, cut_before int, active_ms bigint, release boolean, park text, step json,
        cost json, calls json, starts json, ends json, confirmations json, secrets json, events json, "end" json)
      join runs r on r.id = x.id
    where r.claim = x.claim and r.writes = x.seq and r.holder = x.holder and r.status = 'running'
      and cardinality(r.ancestors) = 0 and r.max_cost_micros is null and r.own_held_micros = 0
      and x.hold is null and x.release is not true and x.park is null and x."end" is null
      and x.starts is null and x.confirmations is null and x.secrets is null
    order by x.id, x.n
  ), stepped as (
    insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost_micros)
    select g.id, s.n, s.kind, s.message, s.prompt, s.prediction_id, s.input_tokens, s.output_tokens, s.cached_tokens,
      coalesce(s.cache_write_tokens, 0), s.cost_micros
    from given g cross join lateral json_to_record(g.step) as s (n int, kind text, message json, prompt text,
      prediction_id text, input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int,
      cost_micros bigint)
    where g.step is not null
  ), called as (
    insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, child_id, result, is_error,
      started_at, ended_at)
    select g.id, k.*, case when k.status = 'started' then clock_timestamp() end,
      case when k.status = 'ended' then clock_timestamp() end
    from given g cross join lateral json_to_recordset(g.calls) as k (step int, position int, call_id text, tool text,
      arguments json, kind text, status text, child_id text, result text, is_error boolean)
    where g.calls is not null
  ), ended as (
    update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = e.result, is_error = e.is_error
    from given g cross join lateral json_to_recordset(g.ends) as e (step int, position int, result text, is_error boolean)
    where g.ends is not null and k.run_id = g.id and k.step = e.step and k.position = e.position and k.status <> 'ended'
  ), moved as (
    update runs r set writes = r.writes + 1, phase = coalesce(g.phase, r.phase), call_id = coalesce(g.call_id, r.call_id),
      cut_before = coalesce(g.cut_before, r.cut_before), steps = coalesce(s.n, r.steps),
      active_ms = r.active_ms + coalesce(g.active_ms, 0),
      parked_at_ms = r.active_ms + coalesce(g.active_ms, 0),
      deaths = case when g.step is not null or g.ends is not null then 0 else r.deaths end,
      cost_micros = r.cost_micros + coalesce(s.cost_micros, 0) + coalesce(c.cost_micros, 0),
      input_tokens = r.input_tokens + coalesce(s.input_tokens, 0) + coalesce(c.input_tokens, 0),
      output_tokens = r.output_tokens + coalesce(s.output_tokens, 0) + coalesce(c.output_tokens, 0),
      cached_tokens = r.cached_tokens + coalesce(s.cached_tokens, 0) + coalesce(c.cached_tokens, 0),
      cache_write_tokens = r.cache_write_tokens + coalesce(s.cache_write_tokens, 0) + coalesce(c.cache_write_tokens, 0),
      last_event = r.last_event + coalesce(json_array_length(g.events), 0)
    from given g
      left join lateral json_to_record(g.step) as s (n int, input_tokens bigint, output_tokens bigint, cached_tokens bigint,
        cache_write_tokens bigint, cost_micros bigint) on true
      left join lateral json_to_record(g.cost) as c (input_tokens bigint, output_tokens bigint, cached_tokens bigint,
        cache_write_tokens bigint, cost_micros bigint) on true
    where r.id = g.id
    returning r.id, g.n, g.events, r.last_event - coalesce(json_array_length(g.events), 0) as from_n, r.cancel_requested
  ), told as (
    insert into run_events (run_id, n, type, data)
    select m.id, m.from_n + i, e ->> 'type', e -> 'data'
    from moved m cross join lateral json_array_elements(m.events) with ordinality as g (e, i) where m.events is not null
  )
  select json_agg(json_build_object('n', m.n, 'written', true, 'cancel', m.cancel_requested, 'room', null, 'spare', null,
    'held', true, 'wake', false,
    'told', case when m.events is not null then pg_notify('gantry_run_events', m.id)::text end)) from moved m
$$;

-- As in 0026 and 0040, with cache writes, and a sale's usage names the key.
create or replace function write_runs(changes json) returns json language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off as $$
declare
  c json; plain json;
  run runs; parent runs;
  chain text[]; selling text[]; answers json[] := '{}';
  used record; ending json; wake boolean; room bigint; spare bigint; more bigint; holds boolean; sold timestamptz;
  waits boolean; one record;
begin
  -- All locks before the first change, in the one order; the end of a run is the end of what it started too.
  with changed as (
    select r.id, r.ancestors, json_typeof(e -> 'end') = 'object' as ends
    from json_array_elements(changes) e join runs r on r.id = e ->> 'id'
  )
  select array_agg(t.id) into chain from (
    select unnest(g.ancestors || g.id) as id from changed g
    union
    select b.id from changed g join runs b on b.ancestors[1] = coalesce(g.ancestors[1], g.id)
    where g.ends and cardinality(b.ancestors) > 0 and g.id = any (b.ancestors) and b.status in ('pending', 'running')
  ) t;
  perform 1 from runs r where r.id = any (chain) order by cardinality(r.ancestors), r.id for update;
  select array_agg(r.id) into selling from json_array_elements(changes) e join runs r on r.id = e ->> 'id'
  where json_typeof(e -> 'end') = 'object' and r.price_micros > 0;
  if selling is not null then
    perform 1 from wallets w where w.user_id in (
      select unnest(array[r.user_id, r.owner_id]) from runs r where r.id = any (selling)) order by w.user_id for update;
    perform 1 from key_months m where (m.key_id, m.month) in (
      select r.key_id, r.key_month from runs r where r.id = any (selling)) order by m.key_id, m.month for update;
  end if;

  plain := coalesce(write_plain_changes(changes), '[]');
  for c in
    select e from json_array_elements(changes) with ordinality g (e, o)
    where (e ->> 'n')::int not in (select (p ->> 'n')::int from json_array_elements(plain) p) order by o
  loop
    wake := false;
    select * into run from runs r where r.id = c ->> 'id';
    chain := run.ancestors || run.id;
    if run.claim = (c ->> 'claim')::int and run.writes = (c ->> 'seq')::int + 1 then
      select min(r.max_cost_micros - r.cost_micros - r.due_micros),
        min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) into room, spare
      from runs r where r.id = any (chain);
      answers := answers || json_build_object('n', c -> 'n', 'written', true, 'cancel', run.cancel_requested, 'room', room,
        'spare', spare, 'held', run.own_held_micros = coalesce((c ->> 'hold')::bigint, 0), 'wake', true);
      continue;
    end if;
    if run.id is null or run.claim <> (c ->> 'claim')::int or run.writes <> (c ->> 'seq')::int
      or run.holder is distinct from c ->> 'holder' or run.status in ('done', 'error') then
      answers := answers || json_build_object('n', c -> 'n', 'written', false, 'cancel', false, 'room', null,
        'spare', null, 'held', false, 'wake', false);
      continue;
    end if;
    ending := case when json_typeof(c -> 'end') = 'object' then c -> 'end' end;

    if c -> 'step' is not null then
      insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens,
        cached_tokens, cache_write_tokens, cost_micros)
      select run.id, s.n, s.kind, s.message, s.prompt, s.prediction_id, s.input_tokens, s.output_tokens,
        s.cached_tokens, coalesce(s.cache_write_tokens, 0), s.cost_micros
      from json_to_record(c -> 'step') as s (n int, kind text, message json, prompt text, prediction_id text,
        input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int, cost_micros bigint);
    end if;
    if c -> 'calls' is not null then
      insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, child_id, result, is_error,
        started_at, ended_at)
      select run.id, k.step, k.position, k.call_id, k.tool, k.arguments, k.kind, k.status, k.child_id, k.result, k.is_error,
        case when k.status = 'started' then clock_timestamp() end, case when k.status = 'ended' then clock_timestamp() end
      from json_to_recordset(c -> 'calls') as k (step int, position int, call_id text, tool text, arguments json,
        kind text, status text, child_id text, result text, is_error boolean);
    end if;
    if c -> 'starts' is not null then
      update run_calls k set status = 'started', started_at = clock_timestamp()
      from json_to_recordset(c -> 'starts') as s (step int, position int)
      where k.run_id = run.id and k.step = s.step and k.position = s.position and k.status = 'asking';
    end if;
    if c -> 'ends' is not null then
      update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = e.result, is_error = e.is_error
      from json_to_recordset(c -> 'ends') as e (step int, position int, result text, is_error boolean)
      where k.run_id = run.id and k.step = e.step and k.position = e.position and k.status <> 'ended';
    end if;
    if c -> 'confirmations' is not null then
      insert into run_confirmations (id, run_id, root_id, step, position, tool, arguments, details, arguments_hash, expires_at)
      select q.id, run.id, chain[1], q.step, q.position, q.tool, q.arguments, q.details, q.hash,
        clock_timestamp() + make_interval(secs => q.seconds)
      from json_to_recordset(c -> 'confirmations') as q (id text, step int, position int, tool text, arguments json,
        details json, hash text, seconds double precision);
    end if;
    if c -> 'secrets' is not null then
      insert into run_secrets (id, run_id, field, sealed, expires_at)
      select s.id, chain[1], s.field, decode(s.sealed, 'base64'), clock_timestamp() + make_interval(secs => s.seconds)
      from json_to_recordset(c -> 'secrets') as s (id text, field text, sealed text, seconds double precision);
    end if;
    if c -> 'events' is not null then
      perform append_events(run.id, c -> 'events');
      -- Whoever watches the run that a person started sees every question, from however deep it comes.
      perform append_events(above.id, asked.events)
      from unnest(run.ancestors) as above (id), lateral (
        select json_agg(e) as events from json_array_elements(c -> 'events') e where e ->> 'type' = 'confirmation_required'
      ) asked where asked.events is not null;
    end if;

    select coalesce(sum(u.input_tokens), 0) as input_tokens, coalesce(sum(u.output_tokens), 0) as output_tokens,
      coalesce(sum(u.cached_tokens), 0) as cached_tokens, coalesce(sum(u.cache_write_tokens), 0) as cache_write_tokens,
      coalesce(sum(u.cost_micros), 0) as cost_micros into used
    from (
      select * from json_to_record(coalesce(c -> 'step', '{}')) as s (input_tokens bigint, output_tokens bigint,
        cached_tokens bigint, cache_write_tokens bigint, cost_micros bigint)
      union all
      select * from json_to_record(coalesce(c -> 'cost', '{}')) as s (input_tokens bigint, output_tokens bigint,
        cached_tokens bigint, cache_write_tokens bigint, cost_micros bigint)
    ) u;
    -- An answer or the end of a child may have come while it was on its way to rest.
    waits := case c ->> 'park'
      when 'confirmation' then exists (select 1 from run_confirmations q where q.run_id = run.id and q.status = 'pending')
      when 'children' then exists (select 1 from run_calls k where k.run_id = run.id and k.kind = 'agent' and k.status = 'started'
        and not exists (select 1 from runs child where child.id = k.child_id and child.status in ('done', 'error')))
      else false end and not run.cancel_requested;
    update runs r set
      writes = r.writes + 1,
      phase = case when ending is not null then 'ended'
        when c ->> 'park' is null then coalesce(c ->> 'phase', r.phase)
        when waits and asks_below(r.id, chain[1]) then 'awaiting_confirmation' else 'working' end,
      call_id = coalesce(c ->> 'call_id', r.call_id),
      cut_before = coalesce((c ->> 'cut_before')::int, r.cut_before),
      steps = coalesce((c #>> '{step,n}')::int, r.steps),
      active_ms = r.active_ms + coalesce((c ->> 'active_ms')::bigint, 0),
      deaths = case when c -> 'step' is not null or c -> 'ends' is not null then 0 else r.deaths end,
      holder = case when ending is not null or waits or c ->> 'park' is not null or (c ->> 'release')::boolean then null else r.holder end,
      parked = waits,
      parked_at_ms = r.active_ms + coalesce((c ->> 'active_ms')::bigint, 0),
      status = coalesce(ending ->> 'status', r.status),
      output = coalesce(ending -> 'output', r.output),
      error = coalesce(ending -> 'error', r.error),
      completed_at = case when ending is not null then clock_timestamp() end
    where r.id = run.id;
    wake := not waits and ending is null and (c ->> 'park' is not null or coalesce((c ->> 'release')::boolean, false));
    if used.cost_micros > 0 or used.input_tokens > 0 or used.output_tokens > 0 then
      update runs r set cost_micros = r.cost_micros + used.cost_micros, input_tokens = r.input_tokens + used.input_tokens,
        output_tokens = r.output_tokens + used.output_tokens, cached_tokens = r.cached_tokens + used.cached_tokens,
        cache_write_tokens = r.cache_write_tokens + used.cache_write_tokens
      where r.id = any (chain);
    end if;
    if waits then perform show_waiting(run.ancestors, chain[1]); end if;

    -- Whoever rests or ends has nothing under way.
    more := case when ending is not null or waits or c ->> 'park' is not null or coalesce((c ->> 'release')::boolean, false)
      then 0 else coalesce((c ->> 'hold')::bigint, run.own_held_micros) end - run.own_held_micros;
    select coalesce(min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) >= more, true) or more <= 0 into holds
    from runs r where r.id = any (chain);
    if more <> 0 and holds then
      update runs r set held_micros = r.held_micros + more,
        own_held_micros = r.own_held_micros + case when r.id = run.id then more else 0 end
      where r.id = any (chain);
    end if;

    if ending is not null then
      if run.price_micros > 0 then
        sold := clock_timestamp();
        update runs r set due_micros = r.due_micros - run.price_micros where r.id = any (chain);
        if run.key_month is not null then
          update key_months m set reserved_micros = m.reserved_micros - run.price_micros, spent_micros = m.spent_micros
            + case when ending ->> 'status' = 'done' then run.price_micros else 0 end
          where m.key_id = run.key_id and m.month = run.key_month;
        end if;
        update wallets w set reserved_micros = w.reserved_micros - run.price_micros where w.user_id = run.user_id;
        if ending ->> 'status' = 'done' then
          insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
            values (sold, 'sale', 'user:' || run.user_id, 'user:' || run.owner_id, run.price_micros, run.id);
          insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, reserved_micros,
            price_micros)
            values (run.id, run.user_id, run.key_id, run.sale_name, 'agent', 200, sold, run.price_micros,
              run.price_micros);
          insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
            values (run.user_id, date_trunc('hour', sold), run.sale_name, 1, 1, run.price_micros)
            on conflict (user_id, hour, model_name) do update set requests = h.requests + 1,
              paid_requests = h.paid_requests + 1, spent_micros = h.spent_micros + excluded.spent_micros;
          update runs r set cost_micros = r.cost_micros + run.price_micros where r.id = any (chain);
        end if;
      end if;
      for one in
        update run_confirmations q set status = 'expired', resolved_at = clock_timestamp(), reason = 'The run has ended'
        where q.run_id = run.id and q.status = 'pending' returning q.id, q.tool, q.status, q.reason
      loop
        perform append_events(above.id, resolved_event(one.id, one.tool, one.status, one.reason))
        from unnest(run.ancestors) as above (id);
      end loop;
      for one in
        update runs r set cancel_requested = true, parked = false
        where r.ancestors[1] = chain[1] and cardinality(r.ancestors) > 0 and run.id = any (r.ancestors)
          and r.status in ('pending', 'running') and not r.cancel_requested returning r.id
      loop
        perform pg_notify('gantry_run_cancel', one.id);
        wake := true;
      end loop;
      if cardinality(run.ancestors) > 0 then
        select * into parent from runs r where r.id = run.ancestors[cardinality(run.ancestors)];
        update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = ending ->> 'told',
          is_error = (ending ->> 'told_error')::boolean
        where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position and k.status <> 'ended';
        if found and parent.status = 'running' then
          perform append_events(parent.id, json_build_array(json_build_object('type', 'tool_result', 'data',
            json_build_object('tool', k.tool, 'result', k.result, 'call_id', shown_call_id(k.run_id, k.step, k.position)))))
          from run_calls k where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position;
        end if;
        -- What works side by side shares the parent's time, it does not add up: a child was given what was left of it, so
        -- the parent is as far as the child is on that way, or farther where it was itself at work for longer.
        update runs r set active_ms = greatest(r.active_ms, r.timeout_ms - run.timeout_ms + run.active_ms
            + coalesce((c ->> 'active_ms')::bigint, 0)),
          parked = exists (select 1 from run_calls k where k.run_id = r.id
            and (k.status = 'started' and k.kind = 'agent' or k.status = 'asking' and exists (
              select 1 from run_confirmations q where q.run_id = r.id and q.status = 'pending')))
        where r.id = parent.id and r.parked;
        wake := wake or found;
        perform show_waiting(run.ancestors, chain[1]);
      end if;
      perform pg_notify('gantry_run_ended', run.id);
    end if;

    select min(r.max_cost_micros - r.cost_micros - r.due_micros),
      min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) into room, spare
    from runs r where r.id = any (chain);
    answers := answers || json_build_object('n', c -> 'n', 'written', true, 'cancel', run.cancel_requested, 'room', room,
      'spare', spare, 'held', holds, 'wake', wake);
  end loop;
  return (select json_agg(one_of) from (
    select p as one_of from json_array_elements(plain) p union all select unnest(answers)) answered);
end $$;
