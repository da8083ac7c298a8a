create or replace function hit_slack_ms()
returns bigint language sql immutable as $$ select 20000::bigint $$;

create or replace function last_minute(hits bigint[], now_ms bigint)
returns request_window language plpgsql immutable as $$
declare
  requests integer := 0;
  oldest_ms bigint;
  pairs integer := coalesce(cardinality(hits) / 2, 0);
begin
  while pairs > 0 and hits[2 * pairs - 1] > now_ms + hit_slack_ms() loop
    pairs := pairs - 1;
  end loop;
  for j in reverse pairs .. 1 loop
    exit when hits[2 * j - 1] <= now_ms - 60000;
    requests := requests + hits[2 * j];
    oldest_ms := hits[2 * j - 1];
  end loop;
  return (requests, oldest_ms);
end $$;

create or replace function add_hits(hits bigint[], now_ms bigint, added integer, per_minute integer)
returns bigint[] language plpgsql immutable as $$
declare
  kept bigint[];
  moment bigint := case when per_minute > 1000 then now_ms / 60 * 60 else now_ms end;
begin
  select coalesce(array_agg(x order by j, side), '{}') into kept
  from generate_series(1, cardinality(hits) / 2) j
    cross join lateral (values (1, hits[2 * j - 1]), (2, hits[2 * j])) as pair (side, x)
  where hits[2 * j - 1] > now_ms - 60000 and hits[2 * j - 1] <= now_ms + hit_slack_ms();
  if cardinality(kept) > 0 and kept[cardinality(kept) - 1] >= moment then
    kept[cardinality(kept)] := kept[cardinality(kept)] + added;
    return kept;
  end if;
  return kept || moment || added::bigint;
end $$;

create or replace function admit_predictions(user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint)
returns setof admission language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
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
      run text, id text, holder text, must_be_covered boolean, sponsored boolean)
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
      when a.sponsored then case when available[a.u] < a.reservation then 'no_funds' else 'run' end
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
        if key_limit[a.k] is not null and a.sponsored is not true then
          key_used[a.k] := key_used[a.k] + a.reservation;
          added_key[a.k] := added_key[a.k] + a.reservation;
        end if;
        starts := model_waiting[a.m] = 0 and model_running[a.m] < capacity[a.m]
          and (with_client or a.route = 'agent' and (a.sponsored is true or coalesce(running[a.u] < parallel[a.u], true)));
        if starts then
          model_running[a.m] := model_running[a.m] + 1;
        else
          model_waiting[a.m] := model_waiting[a.m] + 1;
          decision.verdict := 'wait';
        end if;
        counts := with_client or starts and a.sponsored is not true;
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
    select x.id, user_ids[x.u], case when x.sponsored is not true then key_ids[x.k] end, model_ids[x.m], x.model_name, x.route, x.high_priority, x.holder,
      x.reservation, a2.counts, case when key_limit[x.k] is not null and x.sponsored is not true then month_now end,
      case when a2.starts then clock_timestamp() end, now() + make_interval(secs => x.queue_seconds), x.input::json,
      x.pricing::json, x.bounds::json, x.base_url, x.webhook_destination, decode(x.webhook_target, 'base64')
    from json_to_recordset(arrivals) as x (n int, id text, u int, k int, m int, model_name text, route text,
        high_priority boolean, holder text, reservation bigint, queue_seconds double precision, input text, pricing text,
        bounds text, base_url text, webhook_destination text, webhook_target text, sponsored boolean)
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

create or replace function admit_and_grant(user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint)
returns setof admission language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
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
