-- Settlement: the only place where a prediction ends and is charged.

-- Ends predictions: the row becomes a result, the reservation is released, and at most the reserved amount is charged. An end
-- has no effect if the prediction has ended or has another claim. Without `with_more` it has no effect on predictions with a
-- webhook either, because their delivery must be written with the end. Outputs are null if empty:
--   ended       indexes of the ends that took effect, from 0
--   waited_for  models that others wait for
--   user_waits  whether a user of an ended prediction has others that wait
--   more        data for webhooks and stored inputs
--   models      the model of each end that took effect
-- Locks: live predictions, wallets, counters of keys, slots of models.
create or replace function end_predictions(ends prediction_end[], with_more boolean, out ended integer[], out waited_for text[],
  out user_waits boolean, out more json, out models text[])
language plpgsql as $$
declare
  e prediction_end; l live_predictions; c account_change; r record; n integer := 0; d integer; at timestamptz; notified text[];
  gone live_predictions[]; gone_ends prediction_end[]; users text[]; ws account_change[]; slots text[]; ms account_change[];
  counts_keys boolean; has_waited boolean; to_fold text[];
begin
  user_waits := false;
  foreach e in array ends loop
    n := n + 1;
    delete from live_predictions x where x.id = e.id and x.claim = e.claim and (with_more or x.webhook_target is null)
    returning * into l;
    continue when not found;
    e.price := least(e.price, l.reserved_micros);
    ended := ended || n - 1; models := models || l.model_id; gone := gone || l; gone_ends := gone_ends || e;
    if l.key_month is not null or l.key_day is not null or l.key_second is not null or l.parent_key_id is not null then
      counts_keys := true;
    end if;
    if l.started_at is null then has_waited := true; end if;
    if with_more or l.route = 'async' then notified := notified || l.id; end if;
    d := array_position(users, l.user_id);
    if d is null then users := users || l.user_id; d := cardinality(users); end if;
    c := ws[d];
    ws[d] := row(coalesce(c.price, 0) + e.price, coalesce(c.reserved, 0) + l.reserved_micros,
      coalesce(c.running, 0) + l.counts_parallel::integer,
      coalesce(c.waiting, 0) + (l.started_at is null and (l.holder is null or l.route = 'agent'))::integer,
      coalesce(c.n, 0) + 1)::account_change;
    d := array_position(slots, l.model_id);
    if d is null then slots := slots || l.model_id; d := cardinality(slots); end if;
    c := ms[d];
    ms[d] := row(null, null, coalesce(c.running, 0) + (l.started_at is not null)::integer,
      coalesce(c.waiting, 0) + (l.started_at is null)::integer, null)::account_change;
  end loop;
  if ended is null then return; end if;

  foreach d in array in_order(users) loop
    c := ws[d];
    update wallets s set balance_micros = s.balance_micros - c.price, reserved_micros = s.reserved_micros - c.reserved,
      running = s.running - c.running, waiting = s.waiting - c.waiting, unfolded = s.unfolded + c.n
    where s.user_id = users[d]
    -- Usage rows are dated after folded_until, so that sums never miss one.
    returning greatest(at, clock_timestamp(), s.folded_until + interval '1 microsecond') as at, s.waiting > 0 as waits,
      s.unfolded >= 1000 as folds into r;
    at := r.at; user_waits := user_waits or r.waits;
    if r.folds then to_fold := to_fold || users[d]; end if;
  end loop;
  foreach d in array in_order(slots) loop
    c := ms[d];
    update model_slots s set running = s.running - c.running, waiting = s.waiting - c.waiting
    where s.model_id = slots[d] returning case when s.waiting > 0 then s.model_id end as waited_for into r;
    if r.waited_for is not null then waited_for := waited_for || r.waited_for; end if;
  end loop;

  insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, ended_at,
    inference_ms, output, error, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details,
    reserved_micros, price_micros, run_id, door, backend, actor_id, request, input)
  select g.id, g.user_id, g.key_id, g.model_id, g.model_name, g.route, x.status, g.created_at, g.started_at, at,
    x.inference_ms, x.output::json, x.error::json, x.input_tokens, x.output_tokens, x.cached_tokens,
    coalesce(x.cache_write_tokens, 0), x.stream_details::json, g.reserved_micros, x.price, g.run_id, g.door,
    coalesce(x.backend, g.backend), g.actor_id,
    -- A node sends both in one text, in two lines. Queued predictions have them in their row.
    case when x.input is null then g.bounds -> 'request' else split_part(x.input, chr(10), 1)::json end,
    case when x.input is not null then nullif(substr(x.input, strpos(x.input, chr(10)) + 1), '')::json
      when g.bounds -> 'request' ->> 'keeps' = 'true' then coalesce(g.bounds -> 'kept', g.input) end
  from unnest(gone) with ordinality g cross join lateral (select (gone_ends[g.ordinality]).*) x;
  insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, inference_ms, input_tokens,
    output_tokens, cached_tokens, cache_write_tokens, reserved_micros, price_micros, door, backend, actor_id, run_id)
  select g.id, g.user_id, g.key_id, g.model_name, g.route, x.status, at + ordinality * interval '1 microsecond',
    x.inference_ms, x.input_tokens, x.output_tokens, x.cached_tokens, coalesce(x.cache_write_tokens, 0), g.reserved_micros,
    x.price, g.door, coalesce(x.backend, g.backend), g.actor_id, g.run_id
  from unnest(gone) with ordinality g cross join lateral (select (gone_ends[g.ordinality]).*) x;
  if counts_keys then perform settle_keys(gone, gone_ends); end if;
  if has_waited then perform advance_queue(g.model_id, g.user_id, 0) from unnest(gone) g where g.started_at is null; end if;
  if waited_for is not null then
    update model_lines v set running = v.running - least(v.running, less.n)
    from (
      select g.model_id, g.user_id, count(*)::integer as n from unnest(gone) g
      where g.started_at is not null and g.model_id = any (waited_for) group by 1, 2
    ) less
    where v.model_id = less.model_id and v.user_id = less.user_id;
  end if;
  if to_fold is not null then perform fold_usage(id) from unnest(to_fold) id; end if;
  if notified is not null then perform notify_ids('gantry_ended', notified); end if;
  if with_more then
    select json_agg(json_build_object('n', ended[i], 'id', x.id, 'user_id', x.user_id, 'model_name', x.model_name,
      'destination', x.webhook_destination, 'target', encode(x.webhook_target, 'base64'), 'base_url', x.base_url,
      'input', case when x.input::text like '%"$file"%' then x.input end)) into more
    from generate_subscripts(gone, 1) i cross join lateral (select (gone[i]).*) x
    where x.webhook_target is not null or x.input::text like '%"$file"%';
  end if;
end $$;

-- Releases what acceptance counted towards keys and their parents, and counts what was used instead. Limits may have changed
-- since, which makes no difference here.
create or replace function settle_keys(gone live_predictions[], ends prediction_end[]) returns void language plpgsql as $$
declare
  r record;
begin
  for r in
    select c.key_id, c.month, sum(g.reserved_micros)::bigint as reserved, sum(x.price)::bigint as spent
    from unnest(gone) with ordinality g join unnest(ends) with ordinality x using (ordinality)
      cross join lateral (values (g.key_id, g.key_month), (g.parent_key_id, g.parent_month)) c (key_id, month)
    where c.month is not null group by 1, 2 order by 1, 2
  loop
    update key_months s set reserved_micros = s.reserved_micros - r.reserved, spent_micros = s.spent_micros + r.spent
    where s.key_id = r.key_id and s.month = r.month;
  end loop;
  for r in
    select c.key_id, c.day, sum(g.reserved_micros)::bigint as reserved, sum(x.price)::bigint as spent
    from unnest(gone) with ordinality g join unnest(ends) with ordinality x using (ordinality)
      cross join lateral (values (g.key_id, g.key_day), (g.parent_key_id, g.parent_day)) c (key_id, day)
    where c.day is not null group by 1, 2 order by 1, 2
  loop
    update key_days s set reserved_micros = s.reserved_micros - r.reserved, spent_micros = s.spent_micros + r.spent
    where s.key_id = r.key_id and s.day = r.day;
  end loop;
  for r in
    select c.key_id, array_agg(c.second) as seconds,
      array_agg(coalesce(x.input_tokens, 0)::bigint + coalesce(x.output_tokens, 0) - g.reserved_tokens) as more
    from unnest(gone) with ordinality g join unnest(ends) with ordinality x using (ordinality)
      cross join lateral (values (g.key_id, g.key_second), (g.parent_key_id, g.parent_second)) c (key_id, second)
    where c.second is not null group by 1 order by 1
  loop
    update key_tokens s set window_tokens = add_tokens(s.window_tokens, r.seconds, r.more) where s.key_id = r.key_id;
  end loop;
end $$;

-- The indexes of the values in the order of locking.
create or replace function in_order(ids text[]) returns integer[] language plpgsql immutable as $$
begin
  if cardinality(ids) = 1 then return '{1}'; end if;
  return array(select i from unnest(ids) with ordinality g (id, i) order by id);
end $$;

-- Stores the transcripts of failed predictions with their ends. `unsent` has the fragments that were never written, as
-- [{id, fragments}]. Called after the end, so that it sees fragments that were being written when the row was locked.
create or replace function store_transcripts(ids text[], unsent json)
returns void language sql as $$
  with written as (
    delete from prediction_fragments where prediction_id = any (ids)
    returning prediction_id, claim, seq, field, fragment
  ), transcript as (
    select * from written
    -- Not `union all`: a fragment may have been written without its node knowing yet.
    union select w.id, f.claim, f.seq, f.field, f.fragment
    from json_to_recordset(unsent) as w (id text, fragments json)
      cross join lateral json_to_recordset(w.fragments) as f (claim integer, seq integer, field text, fragment text)
  )
  update ended_predictions e set said = s.fragments
  from (
    select prediction_id, json_agg(json_build_object('claim', claim, 'seq', seq, 'field', field,
      'fragment', fragment) order by claim, seq) as fragments
    from transcript group by prediction_id
  ) s
  where e.id = any (ids) and e.id = s.prediction_id and e.status <> 200
$$;
