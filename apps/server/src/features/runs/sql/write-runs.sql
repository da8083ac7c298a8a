create or replace function write_plain_changes(changes json)
returns json language sql set plan_cache_mode to 'force_generic_plan' as $$
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

create or replace function write_runs(changes json)
returns json language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
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
        update runs r set due_micros = r.due_micros - run.price_micros where r.id = any (chain);
        if run.key_month is not null then
          update key_months m set reserved_micros = m.reserved_micros - run.price_micros, spent_micros = m.spent_micros
            + case when ending ->> 'status' = 'done' then run.price_micros else 0 end
          where m.key_id = run.key_id and m.month = run.key_month;
        end if;
        update wallets w set reserved_micros = w.reserved_micros - run.price_micros where w.user_id = run.user_id;
        if ending ->> 'status' = 'done' then
          perform sell_run(run.user_id, run.owner_id, run.key_id, run.id, run.sale_name, run.price_micros, null);
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
