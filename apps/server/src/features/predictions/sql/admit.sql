-- Admission: an arrival runs, waits or is refused. One rule for all routes, in the order of arrival.

-- Decides about arrivals and inserts the accepted ones. `users`, `keys` and `models` are those of the arrivals. Their limits
-- are read once, updated in memory for each arrival, and written once.
-- Locks: wallets, counters of keys, slots of models. A key's counters are also protected by the wallet of its user.
create or replace function admit_predictions(arrivals arriving_prediction[], users text[], keys text[], models text[],
  node text, today date)
returns admission[] language plpgsql as $$
declare
  a arriving_prediction; r record; w wallet_state; k key_limits; kp key_limits; m model_state; verdict text; counts boolean;
  at timestamptz; u integer; y integer; z integer; d integer; n integer := 0; key_left bigint; second bigint;
  user_ids text[]; key_ids text[]; model_ids text[]; parents text[];
  ws wallet_state[]; ks key_limits[]; ms model_state[]; decision admission; decisions admission[]; is_limited boolean;
  -- Keys and parents whose limits this call counts towards.
  month_keys text[]; day_keys text[]; token_keys text[];
  -- By arrival; null if it is not accepted, or has no limited parent.
  starts boolean[]; parent_of text[]; has_waiting boolean;
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
    select c.id, row(c.id, c.parent_id, c.monthly_limit_micros, c.daily_limit_micros, c.tokens_per_minute,
      null, null, null, 0, 0)::key_limits as state
    from api_keys c join users o on o.id = c.user_id left join api_keys q on q.id = c.parent_id
    where c.id = any (keys) and c.revoked_at is null and o.disabled_at is null
      and (c.expires_at is null or c.expires_at > clock_timestamp())
      and (c.parent_id is null or q.revoked_at is null and (q.expires_at is null or q.expires_at > clock_timestamp()))
    order by c.id
  loop
    k := r.state; key_ids := key_ids || r.id;
    if k.per_month is not null or k.per_day is not null or k.per_minute is not null or k.parent_id is not null then
      -- Sponsored calls do not count towards the key's limits.
      if exists (select from unnest(arrivals) x where x.key_id = k.id and not x.sponsored) then
        k := with_counters(k, today);
        if k.parent_id is not null then parents := parents || k.parent_id; end if;
      end if;
    end if;
    ks := ks || k;
  end loop;
  if parents is not null then
    for r in
      select c.id, row(c.id, null, c.monthly_limit_micros, c.daily_limit_micros, c.tokens_per_minute,
        null, null, null, 0, 0)::key_limits as state
      from api_keys c where c.id = any (parents) order by c.id
    loop
      k := with_counters(r.state, today); y := array_position(key_ids, r.id);
      if y is null then key_ids := key_ids || r.id; ks := ks || k; else ks[y] := k; end if;
    end loop;
    y := null;
  end if;
  for i in 1 .. coalesce(cardinality(ks), 0) loop
    k := ks[i];
    if k.month_used is not null then month_keys := month_keys || k.id; end if;
    if k.day_used is not null then day_keys := day_keys || k.id; end if;
    if k.minute_used is not null then token_keys := token_keys || k.id; end if;
  end loop;
  k := null;
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
      if z is not null then ks[z] := kp; end if;
      y := array_position(key_ids, a.key_id); k := ks[y];
      z := case when k.parent_id is not null then array_position(key_ids, k.parent_id) end; kp := ks[z];
      is_limited := k.per_month is not null or k.per_day is not null or k.per_minute is not null;
    end if;
    n := n + 1;
    -- Null without a limit.
    key_left := least(k.per_month - k.month_used, k.per_day - k.day_used, kp.per_month - kp.month_used,
      kp.per_day - kp.day_used);
    if m.model_id is distinct from a.model_id then
      if d is not null then ms[d] := m; end if;
      d := array_position(model_ids, a.model_id); m := ms[d];
    end if;
    verdict := case
      -- Before the limits, because their refusals would end a line of a batch that has a result.
      when a.promised is true and is_accepted(a.id) then 'accepted_before'
      when a.run_id is not null and not is_next_call(a.run_id, a.id, node) then 'run_lost'
      when u is null or y is null then 'key_gone'
      when d is null or m.is_retired then 'model_retired'
      when m.capacity = 0 then 'model_inactive'
      -- The payer did not start it, so the balance must cover it.
      when (a.sponsored or a.must_be_covered and a.reservation > 0) and w.available < a.reservation then 'no_funds'
      when a.sponsored then 'run'
      -- Charges never exceed reservations, so a key cannot exceed its budgets.
      when a.reservation > key_left then 'no_funds'
      when (w.available < 0 or key_left <= 0) is true and not is_paid_ahead(a.run_id, w.available, key_left) then 'no_funds'
      -- Waiting would not help.
      when a.tokens > least(k.per_minute, kp.per_minute) then 'too_many_tokens'
      when a.route <> 'agent' and (w.minute).requests >= w.per_minute then 'rate_limit'
      when a.tokens > 0 and a.tokens > least(k.per_minute - k.minute_used, kp.per_minute - kp.minute_used) then 'token_limit'
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
      if not a.sponsored then
        if is_limited then k := after_arrival(k, a); end if;
        if z is not null then kp := after_arrival(kp, a); parent_of[n] := kp.id; end if;
      end if;
    end if;
    if w.per_minute is not null and a.route <> 'agent' and a.purpose <> 'look' and verdict in ('run', 'wait') then
      w.minute := row((w.minute).requests + 1, coalesce((w.minute).oldest_ms, now_ms()));
      w.more_requests := w.more_requests + 1;
    end if;
    starts := starts || case when a.purpose = 'run' and verdict in ('run', 'wait') then verdict = 'run' end;
    decision := case when w.per_minute is not null then limits_after(verdict, w)
      else row(verdict, null, null, null, case verdict when 'too_many_parallel' then 1000 end)::admission end;
    if verdict = 'token_limit' then
      decision.retry_after_ms := greatest(until_tokens(k, a.tokens), until_tokens(kp, a.tokens));
    end if;
    decisions := decisions || decision;
  end loop;
  if u is not null then ws[u] := w; end if;
  if y is not null then ks[y] := k; end if;
  if z is not null then ks[z] := kp; end if;
  if d is not null then ms[d] := m; end if;

  -- Rounded up, so that tokens count for at least a minute.
  if token_keys is not null then second := (now_ms() + 999) / 1000; end if;
  insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder, reserved_micros,
    counts_parallel, key_month, key_day, key_second, parent_key_id, parent_month, parent_day, parent_second, reserved_tokens,
    created_at, started_at, queue_until, input, pricing, bounds, base_url, webhook_destination, webhook_target, run_id, door, backend,
    actor_id)
  select x.id, x.user_id, case when not x.sponsored then x.key_id end, x.model_id, x.model_name, x.route, x.high_priority,
    case when starts[x.ordinality] or x.route <> 'async' then node end, x.reservation,
    x.route in ('sync', 'stream') or starts[x.ordinality] and not x.sponsored,
    case when not x.sponsored and x.key_id = any (month_keys) then date_trunc('month', today)::date end,
    case when not x.sponsored and x.key_id = any (day_keys) then today end,
    case when not x.sponsored and x.key_id = any (token_keys) then second end,
    parent_of[x.ordinality],
    case when parent_of[x.ordinality] = any (month_keys) then date_trunc('month', today)::date end,
    case when parent_of[x.ordinality] = any (day_keys) then today end,
    case when parent_of[x.ordinality] = any (token_keys) then second end,
    case when token_keys is not null then coalesce(x.tokens, 0) end,
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
    if k.more > 0 and k.month_used is not null then
      update key_months s set reserved_micros = s.reserved_micros + k.more
      where s.key_id = k.id and s.month = date_trunc('month', today)::date;
    end if;
    if k.more > 0 and k.day_used is not null then
      update key_days s set reserved_micros = s.reserved_micros + k.more where s.key_id = k.id and s.day = today;
    end if;
    if k.more_tokens > 0 then
      update key_tokens s set window_tokens = add_tokens(s.window_tokens, array[second], array[k.more_tokens])
      where s.key_id = k.id;
    end if;
  end loop;
  return decisions;
end $$;

-- The limits with what the key has used of each, locked until the end of the transaction.
create or replace function with_counters(k key_limits, today date) returns key_limits language plpgsql as $$
begin
  if k.per_month is not null then k.month_used := lock_month(k.id, date_trunc('month', today)::date); end if;
  if k.per_day is not null then k.day_used := lock_day(k.id, today); end if;
  if k.per_minute is not null then k.minute_used := lock_tokens(k.id); end if;
  return k;
end $$;

-- The budgets of a key and its parent, locked. The wallet of their user must be locked already.
create or replace function lock_budgets(wanted text, today date) returns setof key_limits language plpgsql as $$
declare
  c api_keys;
begin
  for c in
    select * from api_keys x where x.id = wanted or x.id = (select y.parent_id from api_keys y where y.id = wanted) order by x.id
  loop
    return next with_counters(row(c.id, c.parent_id, c.monthly_limit_micros, c.daily_limit_micros, null, null, null, null, 0,
      0)::key_limits, today);
  end loop;
end $$;

create or replace function after_arrival(k key_limits, a arriving_prediction) returns key_limits language plpgsql as $$
begin
  return row(k.id, k.parent_id, k.per_month, k.per_day, k.per_minute, k.month_used + a.reservation,
    k.day_used + a.reservation, k.minute_used + coalesce(a.tokens, 0), k.more + a.reservation,
    k.more_tokens + case when k.minute_used is not null then coalesce(a.tokens, 0) else 0 end)::key_limits;
end $$;

-- The amount that a key has spent and reserved in the month, locked until the end of the transaction.
create or replace function lock_month(wanted text, month_now date) returns bigint language sql as $$
  insert into key_months (key_id, month) values (wanted, month_now) on conflict do nothing;
  select s.spent_micros + s.reserved_micros from key_months s where s.key_id = wanted and s.month = month_now for update
$$;

-- The same of a day.
create or replace function lock_day(wanted text, today date) returns bigint language sql as $$
  insert into key_days (key_id, day) values (wanted, today) on conflict do nothing;
  select s.spent_micros + s.reserved_micros from key_days s where s.key_id = wanted and s.day = today for update
$$;

-- The tokens of the key's last minute, locked until the end of the transaction.
create or replace function lock_tokens(wanted text) returns bigint language sql as $$
  insert into key_tokens (key_id) values (wanted) on conflict do nothing;
  select tokens_in(s.window_tokens) from key_tokens s where s.key_id = wanted for update
$$;

-- PL/pgSQL on purpose: as SQL functions they would be inlined as subqueries, which PostgreSQL prepares for each arrival,
-- whether it has a run or not.

-- Whether the node has claimed the run, and the call is the run's next one.
create or replace function is_next_call(run text, call text, node text) returns boolean language plpgsql as $$
begin
  return exists (select 1 from runs r where r.id = run and r.holder = node and r.call_id = call);
end $$;

-- Whether the prediction was accepted before, or its line of a batch ended without it. The wallet must be locked, so that no
-- end of the prediction commits meanwhile.
create or replace function is_accepted(prediction text) returns boolean language plpgsql as $$
begin
  return exists (select 1 from live_predictions p where p.id = prediction)
    or exists (select 1 from ended_predictions p where p.id = prediction)
    or exists (select 1 from deleted_predictions p where p.id = prediction)
    or exists (select 1 from batch_lines l where l.prediction_id = prediction and l.status is not null);
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
