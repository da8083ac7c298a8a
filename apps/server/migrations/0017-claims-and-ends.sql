-- What the proofs of crashes and lost answers found wanting in 0004 and 0009.

-- Who is about to accept the prediction of a key: when that node dies before it did, a repeat need not wait for the
-- key's age. Null where code older than this took the key.
alter table idempotency_keys add column taken_by text;

-- As in 0009, but the time that a prediction was under way does not count as waiting: without that, one whose worker died
-- after max_queue_seconds would be ended for waiting too long instead of being run again.
create or replace function release_predictions(ids text[], claims integer[], died boolean)
returns setof text language plpgsql set plan_cache_mode = force_generic_plan as $$
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
      returning l.id, l.user_id, l.model_id
    ), wallet as (
      update wallets w set running = w.running - d.n
      from (select user_id, count(*)::int as n from back group by 1) d where w.user_id = d.user_id
    ), slot as (
      update model_slots s set running = s.running - d.n, waiting = s.waiting + d.n
      from (select model_id, count(*)::int as n from back group by 1) d where s.model_id = d.model_id
    )
    select back.id from back;
end $$;

-- As in 0009, and an ending says which of the list it is (n, from 0). A batch may hold two ends of one prediction: a run that
-- has just come to its end and a cancel that no longer waits for it. One of them counts, and the other must not be told
-- that it did, nor lend its text to the webhook. `ended_n` are the places of those that counted; `inputs` are the stored
-- inputs with files of what has ended, whoever ended it, for those files to be removed.
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
