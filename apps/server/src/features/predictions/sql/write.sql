-- Writes the predictions of a node in one statement and one commit: ends those in `ends`, decides about `arrivals`, claims
-- queued predictions for free worker `slots`, and grants freed slots to waiting clients. `lazily`: returns before the commit
-- is on disk. The next synchronous commit flushes it too.
create or replace function write_batch(arrivals arriving_prediction[], users text[], keys text[], models text[],
  ends prediction_end[], node text, today date, slots integer, with_more boolean, lazily boolean, out decisions json,
  out ended integer[], out ended_models text[], out grants json, out wake boolean, out jobs json, out more json)
language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  decided admission[]; chosen text[]; settled record; waited_for text[]; setting text;
begin
  if lazily then setting := set_config('synchronous_commit', 'off', true); end if;
  if slots > 0 then
    if exists (select 1 from model_slots where waiting > 0) then chosen := next_jobs(slots); end if;
  end if;
  if cardinality(arrivals) > 1 or (arrivals[1]).run_id is not null then
    -- A claim of the run by another node comes before or after this admission, not in between.
    perform 1 from runs r where r.id in (select a.run_id from unnest(arrivals) a)
      order by cardinality(r.ancestors), r.id for share;
  end if;
  -- A single item takes its locks in order anyway.
  if cardinality(arrivals) + cardinality(ends) > 1 or chosen is not null then
    perform lock_accounts(users, models, array(select x.id from unnest(ends) x), chosen);
  end if;
  if cardinality(ends) > 0 then
    settled := end_predictions(ends, with_more);
    ended := settled.ended; ended_models := settled.models; more := settled.more; waited_for := settled.waited_for;
    wake := settled.user_waits or waited_for is not null;
  end if;
  if cardinality(arrivals) > 0 then
    decided := admit_predictions(arrivals, users, keys, models, node, today);
    if decided <> array_fill(row('run', null, null, null, null)::admission, array[cardinality(decided)]) then
      decisions := decisions_of(arrivals, models, decided);
    end if;
  end if;
  if chosen is not null then
    select json_agg(claimed_job(l)) into jobs from start_chosen(node, chosen, slots) l;
  end if;
  if wake then
    if waited_for is not null then select json_agg(g) into grants from grant_slots(waited_for, false) g; end if;
    if exists (select 1 from live_predictions where route = 'agent' and started_at is null) then
      perform pg_notify('gantry_calls', '');
    end if;
  end if;
end $$;

-- Decisions as a node reads them. An arrival starts at once if those before it in the queue wait for limits of their own.
create or replace function decisions_of(arrivals arriving_prediction[], models text[], decided admission[])
returns json language plpgsql as $$
declare
  granted text[];
begin
  if exists (select 1 from unnest(decided) d where d.verdict = 'wait') then
    granted := array(select g.id from grant_slots(models, false) g);
    perform notify_ids('gantry_granted', array(
      select id from unnest(granted) id where id not in (select a.id from unnest(arrivals) a)));
  end if;
  return (
    select json_agg(json_build_object('verdict', case when (arrivals[i]).id = any (granted) then 'run' else d.verdict end,
      'rateLimit', d.rate_limit, 'rateRemaining', d.rate_remaining, 'rateResetMs', d.rate_reset_ms,
      'retryAfterMs', d.retry_after_ms) order by i)
    from generate_subscripts(decided, 1) i cross join lateral (select (decided[i]).*) d);
end $$;

-- Takes the locks that follow those of runs, in the common order.
create or replace function lock_accounts(users text[], models text[], ending text[], starting text[])
returns void language plpgsql as $$
begin
  perform 1 from live_predictions l where l.id = any (ending) order by l.id for update;
  perform 1 from wallets w
    where w.user_id = any (users || array(select l.user_id from live_predictions l where l.id = any (ending || starting)))
    order by w.user_id for update;
  perform 1 from model_slots s
    where s.model_id = any (models || array(select l.model_id from live_predictions l where l.id = any (ending || starting)))
    order by s.model_id for update;
end $$;

-- In portions, because a notification carries at most 8000 bytes.
create or replace function notify_ids(channel text, ids text[]) returns void language sql as $$
  select pg_notify(channel, string_agg(id, ','))
  from (select id, (i - 1) / 200 as part from unnest(ids) with ordinality g (id, i)) parts group by part
$$;
