-- Admission: an arrival runs, waits or is refused. One rule for all routes, in the order of arrival.

-- Decides about arrivals and inserts the accepted ones. `users`, `keys` and `models` are those of the arrivals. Their limits
-- are read once, updated in memory for each arrival, and written once.
-- Locks: wallets, months of keys, slots of models.
create or replace function admit_predictions(arrivals prediction_arrival[], users text[], keys text[], models text[], node text,
  month_now date)
returns admission[] language plpgsql as $$
declare
  a prediction_arrival; r record; w wallet_state; k key_state; m model_state; verdict text; counts boolean; at timestamptz;
  u integer; y integer; d integer; user_ids text[]; key_ids text[]; model_ids text[];
  ws wallet_state[]; ks key_state[]; ms model_state[]; decisions admission[]; limited text[];
  -- By arrival; null if it is not accepted.
  starts boolean[]; has_waiting boolean;
begin
  -- A row that another transaction had locked is read again once this one has the lock.
  for r in
    select s.user_id, row(s.user_id, s.balance_micros - s.reserved_micros, s.running, p.parallel, p.requests_per_minute,
      case when p.requests_per_minute is not null then last_minute(s.hits, now_ms()) end, 0, 0, 0, 0)::wallet_state as state
    from wallets s join users o on o.id = s.user_id join plans p on p.name = o.plan
    where s.user_id = any (admit_predictions.users) order by s.user_id for update of s
  loop
    user_ids := user_ids || r.user_id; ws := ws || r.state;
  end loop;
  for r in
    select c.id, row(c.id, c.monthly_limit_micros,
      -- Sponsored calls do not count towards the key's limit.
      case when c.monthly_limit_micros is not null
        and exists (select 1 from unnest(arrivals) x where x.key_id = c.id and not x.sponsored)
        then lock_month(c.id, month_now) end, 0)::key_state as state
    from api_keys c join users o on o.id = c.user_id
    where c.id = any (keys) and c.revoked_at is null and o.disabled_at is null
      and (c.expires_at is null or c.expires_at > clock_timestamp())
    order by c.id
  loop
    key_ids := key_ids || r.id; ks := ks || r.state;
    if (r.state).monthly_limit is not null then limited := limited || r.id; end if;
  end loop;
  for r in
    select s.model_id, row(s.model_id, c.capacity, c.retired_at is not null, s.running, s.waiting, 0, 0)::model_state as state,
      clock_timestamp() as at
    from model_slots s join models c on c.id = s.model_id
    where s.model_id = any (admit_predictions.models) order by s.model_id for update of s
  loop
    model_ids := model_ids || r.model_id; ms := ms || r.state; at := r.at;
  end loop;

  foreach a in array arrivals loop
    -- The arrivals of a batch often have the same user, key and model, which saves the lookup.
    if w.user_id is distinct from a.user_id then
      if u is not null then ws[u] := w; end if;
      u := array_position(user_ids, a.user_id); w := ws[u];
    end if;
    if k.id is distinct from a.key_id then
      if y is not null then ks[y] := k; end if;
      y := array_position(key_ids, a.key_id); k := ks[y];
    end if;
    if m.model_id is distinct from a.model_id then
      if d is not null then ms[d] := m; end if;
      d := array_position(model_ids, a.model_id); m := ms[d];
    end if;
    verdict := case
      when a.run_id is not null and not is_next_call(a.run_id, a.id, node) then 'run_lost'
      when u is null or y is null then 'key_gone'
      when d is null or m.is_retired then 'model_retired'
      when m.capacity = 0 then 'model_inactive'
      -- The payer did not start it, so the balance must cover it.
      when (a.sponsored or a.must_be_covered and a.reservation > 0) and w.available < a.reservation then 'no_funds'
      when a.sponsored then 'run'
      -- Charges never exceed reservations, so a key cannot exceed its monthly limit.
      when k.used + a.reservation > k.monthly_limit then 'no_funds'
      when w.available < 0 or k.used >= k.monthly_limit then case
        when is_paid_ahead(a.run_id, w.available, k.monthly_limit - k.used) then 'run' else 'no_funds' end
      when a.route <> 'agent' and (w.minute).requests >= w.per_minute then 'rate_limit'
      when a.route in ('sync', 'stream') and w.running >= w.parallel then 'too_many_parallel'
      else 'run' end;
    if verdict = 'run' and a.purpose = 'run' then
      if not (m.waiting = 0 and m.running < m.capacity and (a.route in ('sync', 'stream')
        or (a.route = 'agent' or a.hand_free) and (a.sponsored or coalesce(w.running < w.parallel, true)))) then
        verdict := 'wait'; has_waiting := true;
      end if;
      counts := a.route in ('sync', 'stream') or verdict = 'run' and not a.sponsored;
      w := row(w.user_id, w.available - a.reservation, w.running + counts::integer, w.parallel, w.per_minute, w.minute,
        w.more_reserved + a.reservation, w.more_running + counts::integer,
        w.more_waiting + (verdict = 'wait' and a.route in ('async', 'agent'))::integer, w.more_requests);
      m := row(m.model_id, m.capacity, m.is_retired, m.running + (verdict = 'run')::integer,
        m.waiting + (verdict = 'wait')::integer, m.more_running + (verdict = 'run')::integer,
        m.more_waiting + (verdict = 'wait')::integer);
      if k.monthly_limit is not null and not a.sponsored then
        k := row(k.id, k.monthly_limit, k.used + a.reservation, k.more + a.reservation);
      end if;
    end if;
    if w.per_minute is not null and a.route <> 'agent' and a.purpose <> 'look' and verdict in ('run', 'wait') then
      w.minute := row((w.minute).requests + 1, coalesce((w.minute).oldest_ms, now_ms()));
      w.more_requests := w.more_requests + 1;
    end if;
    starts := starts || case when a.purpose = 'run' and verdict in ('run', 'wait') then verdict = 'run' end;
    decisions := decisions || case when w.per_minute is not null then limits_after(verdict, w)
      else row(verdict, null, null, null, case verdict when 'too_many_parallel' then 1000 end)::admission end;
  end loop;
  if u is not null then ws[u] := w; end if;
  if y is not null then ks[y] := k; end if;
  if d is not null then ms[d] := m; end if;

  insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder, reserved_micros,
    counts_parallel, key_month, created_at, started_at, queue_until, input, pricing, bounds, base_url, webhook_destination,
    webhook_target, run_id, door, backend, actor_id)
  select x.id, x.user_id, case when not x.sponsored then x.key_id end, x.model_id, x.model_name, x.route, x.high_priority,
    case when starts[x.ordinality] or x.route <> 'async' then node end, x.reservation,
    x.route in ('sync', 'stream') or starts[x.ordinality] and not x.sponsored,
    case when not x.sponsored and x.key_id = any (limited) then month_now end,
    -- Arrivals of a batch keep their order.
    at + x.ordinality * interval '1 microsecond',
    case when starts[x.ordinality] then at + x.ordinality * interval '1 microsecond' end,
    at + make_interval(secs => x.queue_seconds), x.input::json, x.pricing::json, x.bounds::json, x.base_url,
    x.webhook_destination, decode(x.webhook_target, 'base64'), x.run_id, x.door, x.backend, x.actor_id
  from unnest(arrivals) with ordinality x where starts[x.ordinality] is not null;
  if has_waiting then
    perform join_queue(x.model_id, x.user_id, x.high_priority, at) from (
      select distinct c.model_id, c.user_id, c.high_priority from unnest(arrivals) with ordinality c
      where not starts[c.ordinality]
    ) x;
  end if;
  for i in 1 .. coalesce(cardinality(ws), 0) loop
    w := ws[i];
    update wallets s set reserved_micros = s.reserved_micros + w.more_reserved, running = s.running + w.more_running,
      waiting = s.waiting + w.more_waiting,
      hits = case when w.more_requests > 0 then add_hits(s.hits, now_ms(), w.more_requests, w.per_minute) else s.hits end
    where s.user_id = w.user_id and (w.more_reserved, w.more_running, w.more_waiting, w.more_requests) <> (0, 0, 0, 0);
  end loop;
  for i in 1 .. coalesce(cardinality(ms), 0) loop
    m := ms[i];
    update model_slots s set running = s.running + m.more_running, waiting = s.waiting + m.more_waiting
    where s.model_id = m.model_id and (m.more_running, m.more_waiting) <> (0, 0);
  end loop;
  for i in 1 .. coalesce(cardinality(ks), 0) loop
    k := ks[i];
    if k.more > 0 then
      update key_months s set reserved_micros = s.reserved_micros + k.more where s.key_id = k.id and s.month = month_now;
    end if;
  end loop;
  return decisions;
end $$;

-- The amount that a key has spent and reserved in the month, locked until the end of the transaction.
create or replace function lock_month(wanted text, month_now date) returns bigint language sql as $$
  insert into key_months (key_id, month) values (wanted, month_now) on conflict do nothing;
  select s.spent_micros + s.reserved_micros from key_months s where s.key_id = wanted and s.month = month_now for update
$$;

-- PL/pgSQL on purpose: as SQL functions they would be inlined as subqueries, which PostgreSQL prepares for each arrival,
-- whether it has a run or not.

-- Whether the node has claimed the run, and the call is the run's next one.
create or replace function is_next_call(run text, call text, node text) returns boolean language plpgsql as $$
begin
  return exists (select 1 from runs r where r.id = run and r.holder = node and r.call_id = call);
end $$;

-- Whether the prices reserved for the run and its ancestors cover the shortfall: they must not refuse their own calls.
create or replace function is_paid_ahead(run text, available bigint, key_left bigint)
returns boolean language plpgsql stable as $$
begin
  return coalesce((
    select sum(r.price_micros) > 0 and available + sum(r.price_micros) >= 0
      and coalesce(key_left + sum(r.price_micros) > 0, true)
    from runs c join runs r on r.id = any (c.ancestors || c.id) where c.id = run), false);
end $$;
