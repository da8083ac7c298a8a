-- Admission and settlement of a batch, each one statement of the server and one round trip: what arrives within the
-- same few milliseconds is decided under one lock and written with one commit. Measured with the decisions made in the
-- server over seven round trips instead: while the event loop works on a burst of requests every trip waits for its
-- turn, and 256 connections got 0.16 of the bare rate.
--
-- Rows are locked in one order everywhere: wallets by user, key months by key, slots by model.

create type admission as (
  n integer,
  -- run | wait | key_gone | model_retired | model_inactive | no_funds | rate_limit | too_many_parallel
  verdict text,
  rate_limit integer,
  rate_remaining integer,
  rate_reset_ms bigint,
  retry_after_ms bigint
);

-- Decides in order of arrival, and in the order of refusals: key, model, funds, limits. The counters move along with the
-- decisions, so that the last slot and the last dollar go to the first who asked; nobody overtakes those who already
-- wait for the model.
--
-- `arrivals` is an array of {n, id, u, k, m, model_name, route, high_priority, holder, reservation, purpose}: n counts
-- from 1, u, k and m are places in the lists of users, keys and models. `purpose` is run, look (would it be refused?) or
-- look_and_count (the same, counted as a request).
create function admit_predictions(
  user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint
) returns setof admission language plpgsql as $$
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
  accepted_n int[] := '{}'; accepted_starts boolean[] := '{}'; accepted_client boolean[] := '{}';
  with_client boolean; starts boolean;
begin
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
    select * from json_to_recordset(arrivals) as x (n int, u int, k int, m int, route text, reservation bigint, purpose text)
    order by n
  loop
    with_client := a.route in ('sync', 'stream');
    decision := row(a.n, null, per_minute[a.u], null, null, null);
    decision.verdict := case
      when not key_works[a.k] or available[a.u] is null then 'key_gone'
      when retired[a.m] then 'model_retired'
      when capacity[a.m] = 0 then 'model_inactive'
      when available[a.u] < 0 or key_used[a.k] >= key_limit[a.k] then 'no_funds'
      when hits_now[a.u] >= per_minute[a.u] then 'rate_limit'
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
      if a.purpose <> 'look' and per_minute[a.u] is not null then
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
        starts := with_client and model_waiting[a.m] = 0 and model_running[a.m] < capacity[a.m];
        if starts then
          model_running[a.m] := model_running[a.m] + 1;
        else
          model_waiting[a.m] := model_waiting[a.m] + 1;
          decision.verdict := 'wait';
        end if;
        if with_client then
          running[a.u] := running[a.u] + 1;
          added_running[a.u] := added_running[a.u] + 1;
        end if;
        accepted_n := accepted_n || a.n;
        accepted_starts := accepted_starts || starts;
        accepted_client := accepted_client || with_client;
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
      reserved_micros, counts_parallel, key_month, started_at)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], x.model_name, x.route, x.high_priority, x.holder,
      x.reservation, a2.client, case when key_limit[x.k] is not null then month_now end,
      case when a2.starts then clock_timestamp() end
    from json_to_recordset(arrivals) as x (n int, id text, u int, k int, m int, model_name text, route text,
        high_priority boolean, holder text, reservation bigint)
      join unnest(accepted_n, accepted_starts, accepted_client) as a2 (n, starts, client) on a2.n = x.n;
    update model_slots s set running = g.running, waiting = g.waiting
    from unnest(model_ids, model_running, model_waiting) as g (model_id, running, waiting)
    where s.model_id = g.model_id and (s.running <> g.running or s.waiting <> g.waiting);
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

-- The window of the last minute with more requests at its end. Up to a thousand a minute every moment is kept; above,
-- moments are merged to 60 ms so that the row stays small. Moments never go backwards, though clocks may.
create function add_hits(hits bigint[], now_ms bigint, added int, per_minute int) returns bigint[]
language plpgsql immutable as $$
declare
  kept bigint[];
  moment bigint := case when per_minute > 1000 then now_ms / 60 * 60 else now_ms end;
begin
  select coalesce(array_agg(x order by j, side), '{}') into kept
  from generate_series(1, cardinality(hits) / 2) j
    cross join lateral (values (1, hits[2 * j - 1]), (2, hits[2 * j])) as pair (side, x)
  where hits[2 * j - 1] > now_ms - 60000;
  if cardinality(kept) > 0 and kept[cardinality(kept) - 1] >= moment then
    kept[cardinality(kept)] := kept[cardinality(kept)] + added;
    return kept;
  end if;
  return kept || moment || added::bigint;
end $$;

-- Gives free slots of the given models to those who wait longest, high priority first. The slots must be locked.
create function grant_slots(wanted text[]) returns table (id text, holder text, claim integer) language sql as $$
  with room as (
    select s.model_id, greatest(m.capacity - s.running, 0) as free
    from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (wanted) and s.waiting > 0
  ), chosen as (
    select line.id from room cross join lateral (
      select l.id from live_predictions l
      where l.model_id = room.model_id and l.started_at is null
      order by l.high_priority desc, l.created_at limit room.free
    ) line
  ), started as (
    update live_predictions l set started_at = clock_timestamp()
    where l.id in (select chosen.id from chosen) returning l.id, l.holder, l.claim, l.model_id
  ), counted as (
    update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n
    from (select started.model_id, count(*)::int as n from started group by 1) d
    where s.model_id = d.model_id
  )
  select started.id, started.holder, started.claim from started
$$;

-- Ends predictions for good: the live row goes, the ended row comes, the price is taken, the reservation is given back,
-- usage and its hourly sums are written, the slot is free and handed on. What another claim holds or has ended is left
-- alone. `endings` is an array of {id, claim, status, inference_ms, output, error, input_tokens, output_tokens,
-- cached_tokens, price}; output and error are JSON texts. Answers {ended: [id], grants: [{id, holder, claim}]}.
create function settle_predictions(endings json) returns json language plpgsql as $$
declare
  ids text[];
  ended text[];
  free_models text[];
  grants json;
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
    select * from json_to_recordset(endings) as x (id text, claim int, status int, inference_ms int, output text,
      error text, input_tokens int, output_tokens int, cached_tokens int, price bigint)
  ), gone as (
    delete from live_predictions l using given g where l.id = g.id and l.claim = g.claim
    returning l.*, g.status, g.inference_ms, g.output, g.error, g.input_tokens, g.output_tokens, g.cached_tokens,
      g.price, clock_timestamp() as at
  ), results as (
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
      ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens)
    select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
      output::json, error::json, input_tokens, output_tokens, cached_tokens
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
    returning s.model_id, s.waiting
  )
  select array_agg(gone.id), array_agg(distinct freed.model_id) filter (where freed.waiting > 0)
  into ended, free_models
  from gone join freed on freed.model_id = gone.model_id;

  if free_models is not null then
    select json_agg(g) into grants from grant_slots(free_models) g;
  end if;
  return json_build_object('ended', coalesce(ended, '{}'), 'grants', coalesce(grants, '[]'));
end $$;
