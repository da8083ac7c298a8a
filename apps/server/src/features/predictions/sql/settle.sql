create or replace function settle_predictions(endings json)
returns json language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
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
