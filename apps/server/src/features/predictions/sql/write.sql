create or replace function write_predictions(end_ids text[], end_claims integer[], end_statuses integer[], end_inference_ms integer[], end_outputs text[], end_errors text[], end_input_tokens integer[], end_output_tokens integer[], end_cached_tokens integer[], end_cache_write_tokens integer[], end_stream_details text[], end_prices bigint[], ids text[], user_of integer[], key_of integer[], model_of integer[], routes text[], priorities boolean[], reservations bigint[], queue_seconds double precision[], node text, run_ids text[], hand_free boolean[], inputs text[], pricings text[], bounds text[], base_urls text[], webhook_destinations text[], webhook_targets text[], user_ids text[], user_requests integer[], user_clients integer[], user_here integer[], user_reservations bigint[], key_ids text[], key_reservations bigint[], month_now date, model_ids text[], model_names text[], model_arrivals integer[], model_clients integer[], model_here integer[], hands integer, out admitted boolean, out here_starts boolean, out rate_users text[], out rate_limits integer[], out rate_requests integer[], out rate_reset_ms bigint[], out ended_n integer[], out grants json, out wake boolean, out jobs json)
returns record language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
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
