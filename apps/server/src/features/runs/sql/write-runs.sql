-- Writes changes of runs (`RunChange` of run-writer.ts): state, calls and events in one commit, and only under the current
-- claim. `locked` are the changed runs and their ancestors, `ending` the runs that end.
create or replace function write_runs(locked text[], ending text[], changes json)
returns table (n integer, written boolean, cancel boolean, room bigint, spare bigint, held boolean, wake boolean)
language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' set enable_hashjoin to 'off' as $$
declare
  c record;
  run runs; step run_steps; other run_steps;
  root text; cost bigint; active bigint; more bigint; now_phase text;
  ends boolean; waits boolean; leaves boolean;
begin
  -- All locks before the first change, in one order. The end of a run also ends its descendants. The wallets also protect the
  -- counters of their users' keys.
  if cardinality(ending) > 0 then
    locked := locked || array(
      select b.id from runs b where b.ancestors[1] = any (locked) and cardinality(b.ancestors) > 0
        and b.ancestors && ending and b.status in ('pending', 'running'));
  end if;
  perform 1 from runs r where r.id = any (locked) order by cardinality(r.ancestors), r.id for update;
  if exists (select 1 from runs r where r.id = any (ending) and r.price_micros > 0) then
    perform 1 from wallets w where w.user_id in (
      select unnest(array[r.user_id, r.owner_id]) from runs r where r.id = any (ending) and r.price_micros > 0)
      order by w.user_id for update;
  end if;

  for c in
    select * from json_to_recordset(changes) as x (n int, id text, claim int, holder text, seq int, hold bigint, phase text,
      call_id text, summing_up json, cut_before int, active_ms bigint, release boolean, park text, step json, cost json,
      calls json, starts json, ends json, confirmations json, secrets json, events json,
      status text, output json, error json, told text, told_error boolean)
  loop
    select * into run from runs r where r.id = c.id;
    n := c.n;
    cancel := coalesce(run.cancel_requested, false);
    spare := run.max_cost_micros - run.cost_micros - run.due_micros - run.held_micros;
    room := spare + run.held_micros;
    if cardinality(run.ancestors) > 0 then
      select least(room, min(r.max_cost_micros - r.cost_micros - r.due_micros)),
        least(spare, min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros)) into room, spare
      from runs r where r.id = any (run.ancestors);
    end if;
    -- A retry: the response to the first attempt was lost.
    if run.claim = c.claim and run.writes = c.seq + 1 then
      written := true;
      held := run.own_held_micros = coalesce(c.hold, 0);
      wake := true;
      return next;
      continue;
    end if;
    if run.id is null or run.claim <> c.claim or run.writes <> c.seq or run.holder is distinct from c.holder
      or run.status in ('done', 'error') then
      written := false;
      cancel := false;
      held := false;
      wake := false;
      return next;
      continue;
    end if;
    root := coalesce(run.ancestors[1], run.id);

    step := null;
    if c.step is not null then
      insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, cost_micros, first_token_ms)
      select run.id, s.n, s.kind, s.message, s.prompt, s.prediction_id, s.input_tokens, s.output_tokens, s.cached_tokens,
        s.cache_write_tokens, s.cost_micros, s.first_token_ms
      from json_to_record(c.step) as s (n int, kind text, message json, prompt text, prediction_id text, input_tokens int,
        output_tokens int, cached_tokens int, cache_write_tokens int, cost_micros bigint, first_token_ms int)
      returning * into step;
    end if;
    other := null;
    if c.cost is not null then select * into other from json_populate_record(null::run_steps, c.cost); end if;
    if c.calls is not null then
      insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, child_id, result, is_error,
        started_at, ended_at)
      select run.id, k.*, case when k.status = 'started' then clock_timestamp() end,
        case when k.status = 'ended' then clock_timestamp() end
      from json_to_recordset(c.calls) as k (step int, position int, call_id text, tool text, arguments json, kind text,
        status text, child_id text, result text, is_error boolean);
    end if;
    if c.starts is not null then
      update run_calls k set status = 'started', started_at = clock_timestamp()
      from json_to_recordset(c.starts) as s (step int, position int)
      where k.run_id = run.id and k.step = s.step and k.position = s.position and k.status = 'asking';
    end if;
    if c.ends is not null then
      update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = e.result, is_error = e.is_error
      from json_to_recordset(c.ends) as e (step int, position int, result text, is_error boolean)
      where k.run_id = run.id and k.step = e.step and k.position = e.position and k.status <> 'ended';
    end if;
    if c.confirmations is not null then
      insert into run_confirmations (id, run_id, root_id, user_id, step, position, tool, arguments, details, arguments_hash,
        expires_at)
      select q.id, run.id, root, run.user_id, q.step, q.position, q.tool, q.arguments, q.details, q.hash, q.expires_at
      from json_to_recordset(c.confirmations) as q (id text, step int, position int, tool text, arguments json,
        details json, hash text, expires_at timestamptz);
      perform store_webhook_event(root, 'confirmation_required', array(
        select q.id from json_to_recordset(c.confirmations) as q (id text)));
    end if;
    if c.secrets is not null then
      insert into run_secrets (id, run_id, field, sealed, expires_at)
      select s.id, root, s.field, decode(s.sealed, 'base64'), clock_timestamp() + make_interval(secs => s.seconds)
      from json_to_recordset(c.secrets) as s (id text, field text, sealed text, seconds double precision);
    end if;
    if c.events is not null then
      run.last_event := store_events(run.id, run.last_event, c.events, run.followed);
      -- Readers of the root run see the confirmations of all descendants.
      if c.confirmations is not null then
        perform append_events(above.id, asked.events)
        from unnest(run.ancestors) as above (id), lateral (
          select json_agg(e) as events from json_array_elements(c.events) e where e ->> 'type' = 'confirmation_required'
        ) asked where asked.events is not null;
      end if;
    end if;

    active := run.active_ms + coalesce(c.active_ms, 0);
    ends := c.status is not null;
    leaves := c.park is not null or coalesce(c.release, false);
    waits := false;
    now_phase := case when ends then 'ended' else coalesce(c.phase, run.phase) end;
    if c.park is not null then
      -- A confirmation or the end of a child may have arrived meanwhile. A run without active time is not parked, because
      -- nothing would end it.
      waits := not run.cancel_requested and active < run.timeout_ms and case c.park
        when 'confirmation' then exists (select 1 from run_confirmations q where q.run_id = run.id and q.status = 'pending')
        else exists (select 1 from run_calls k where k.run_id = run.id and k.kind = 'agent' and k.status = 'started'
          and not exists (select 1 from runs child where child.id = k.child_id and child.status in ('done', 'error'))) end;
      now_phase := case when waits and asks_below(run.id, root) then 'awaiting_confirmation' else 'working' end;
    end if;
    cost := coalesce(step.cost_micros, 0) + coalesce(other.cost_micros, 0);
    -- A parked or ended run has no calls under way.
    more := case when ends or leaves then 0 else coalesce(c.hold, run.own_held_micros) end - run.own_held_micros;
    held := more <= 0 or coalesce(spare - cost >= more, true);
    if not held then more := 0; end if;
    room := room - cost;
    spare := spare - cost - more;
    wake := leaves and not waits and not ends;
    update runs r set
      writes = r.writes + 1,
      phase = now_phase,
      call_id = coalesce(c.call_id, r.call_id),
      summing_up = coalesce(c.summing_up, r.summing_up),
      cut_before = coalesce(c.cut_before, r.cut_before),
      turns_summary = case when step.message ->> 'turns' is null then r.turns_summary else step.n end,
      steps = coalesce(step.n, r.steps),
      last_event = run.last_event,
      active_ms = active,
      deaths = case when c.step is null and c.ends is null then r.deaths else 0 end,
      holder = case when not ends and not leaves then r.holder end,
      parked = waits,
      own_held_micros = r.own_held_micros + more,
      held_micros = r.held_micros + more,
      cost_micros = r.cost_micros + cost,
      input_tokens = r.input_tokens + coalesce(step.input_tokens, 0) + coalesce(other.input_tokens, 0),
      output_tokens = r.output_tokens + coalesce(step.output_tokens, 0) + coalesce(other.output_tokens, 0),
      cached_tokens = r.cached_tokens + coalesce(step.cached_tokens, 0) + coalesce(other.cached_tokens, 0),
      cache_write_tokens = r.cache_write_tokens + coalesce(step.cache_write_tokens, 0) + coalesce(other.cache_write_tokens, 0),
      status = coalesce(c.status, r.status),
      output = c.output,
      error = c.error,
      -- A clock that jumps does not end a run before it began.
      completed_at = case when ends then greatest(clock_timestamp(), r.created_at) end
    where r.id = run.id;
    if cardinality(run.ancestors) > 0 and (more <> 0 or step.n is not null or c.cost is not null) then
      update runs r set held_micros = r.held_micros + more, cost_micros = r.cost_micros + cost,
        input_tokens = r.input_tokens + coalesce(step.input_tokens, 0) + coalesce(other.input_tokens, 0),
        output_tokens = r.output_tokens + coalesce(step.output_tokens, 0) + coalesce(other.output_tokens, 0),
        cached_tokens = r.cached_tokens + coalesce(step.cached_tokens, 0) + coalesce(other.cached_tokens, 0),
        cache_write_tokens = r.cache_write_tokens + coalesce(step.cache_write_tokens, 0) + coalesce(other.cache_write_tokens, 0)
      where r.id = any (run.ancestors);
    end if;
    if waits then
      if now_phase = 'awaiting_confirmation' then perform pg_notify('gantry_run_ended', run.id); end if;
      perform show_waiting(run.ancestors, root);
    end if;
    if ends then wake := end_run(run, c.status, c.told, c.told_error, active); end if;
    written := true;
    return next;
  end loop;
end $$;

-- Effects of the end of a run on other rows: charges or releases the price, expires confirmations, cancels descendants and
-- stores the result for the parent. Returns whether a worker has something to do. `run` is the row before its end.
create or replace function end_run(run runs, status text, told text, told_error boolean, active bigint)
returns boolean language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  chain text[] := run.ancestors || run.id;
  sold bigint := case when status = 'done' then run.price_micros else 0 end;
  wake boolean := false;
  parent runs; one record;
begin
  if run.price_micros > 0 then
    update runs r set due_micros = r.due_micros - run.price_micros, cost_micros = r.cost_micros + sold where r.id = any (chain);
    update key_months m set reserved_micros = m.reserved_micros - run.price_micros, spent_micros = m.spent_micros + sold
    where (m.key_id, m.month) in ((run.key_id, run.key_month), (run.parent_key_id, run.parent_month));
    update key_days d set reserved_micros = d.reserved_micros - run.price_micros, spent_micros = d.spent_micros + sold
    where (d.key_id, d.day) in ((run.key_id, run.key_day), (run.parent_key_id, run.parent_day));
    update wallets w set reserved_micros = w.reserved_micros - run.price_micros where w.user_id = run.user_id;
    if sold > 0 then
      perform sell_run(run.user_id, run.owner_id, run.key_id, run.id, run.sale_name, sold, run.door);
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
    update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = told, is_error = told_error
    where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position and k.status <> 'ended';
    if found and parent.status = 'running' then
      perform append_events(parent.id, json_build_array(json_build_object('type', 'tool_result', 'data',
        json_build_object('tool', k.tool, 'result', k.result, 'call_id', shown_call_id(k.run_id, k.step, k.position)))))
      from run_calls k where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position;
    end if;
    -- Parallel children share the active time of the parent; it does not add up. A child starts with the remaining time of
    -- its parent, so the parent has used at least as much as the child. A parent without time left is not parked: the next
    -- claim ends it together with its descendants.
    parent.active_ms := greatest(parent.active_ms, parent.timeout_ms - run.timeout_ms + active);
    update runs r set active_ms = parent.active_ms,
      parked = parent.active_ms < r.timeout_ms and exists (select 1 from run_calls k where k.run_id = r.id
        and (k.status = 'started' and k.kind = 'agent' or k.status = 'asking' and exists (
          select 1 from run_confirmations q where q.run_id = r.id and q.status = 'pending')))
    where r.id = parent.id and r.parked;
    wake := wake or found;
    perform show_waiting(run.ancestors, chain[1]);
  else
    perform store_webhook_event(run.id, status, array['']);
  end if;
  -- The next run of the sequence may start, on any node.
  if run.sequence is not null and not wake then
    wake := exists (select from runs r where r.sequence = run.sequence and r.completed_at is null and r.id <> run.id);
  end if;
  perform pg_notify('gantry_run_ended', run.id);
  return wake;
end $$;
