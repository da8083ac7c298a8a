-- Running another user's agent never charges the caller for a model that is private to the agent's creator: the creator
-- pays. Such a call is sponsored. Its row belongs to the creator and has no key, because no key of the creator made it, so
-- no key's month counts it. Wallet, usage and ledger follow the row's user as always.
--
-- Servers of the version before write no sponsored calls, and end those of others as any call of an agent.

alter table live_predictions alter column key_id drop not null;
alter table ended_predictions alter column key_id drop not null;

-- Sponsored calls wait for their model's capacity and for nothing else: the creator's parallel limit bounds what the
-- creator does, and other users' runs are bounded by their own plans.
create index live_predictions_sponsored on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and key_id is null;

-- Admission: an arrival that says `sponsored` names the caller's key, which must work, and the creator as its user. The
-- creator must cover all of it.
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'run text, id text, holder text, must_be_covered boolean)',
  'run text, id text, holder text, must_be_covered boolean, sponsored boolean)',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  $$when capacity[a.m] = 0 then 'model_inactive'$$,
  $$when capacity[a.m] = 0 then 'model_inactive'
      when a.sponsored then case when available[a.u] < a.reservation then 'no_funds' else 'run' end$$,
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'if key_limit[a.k] is not null then',
  'if key_limit[a.k] is not null and a.sponsored is not true then',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  $$(with_client or a.route = 'agent' and coalesce(running[a.u] < parallel[a.u], true))$$,
  $$(with_client or a.route = 'agent' and (a.sponsored is true or coalesce(running[a.u] < parallel[a.u], true)))$$,
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'counts := with_client or starts;',
  'counts := with_client or starts and a.sponsored is not true;',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'user_ids[x.u], key_ids[x.k], model_ids[x.m]',
  'user_ids[x.u], case when x.sponsored is not true then key_ids[x.k] end, model_ids[x.m]',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'case when key_limit[x.k] is not null then month_now end',
  'case when key_limit[x.k] is not null and x.sponsored is not true then month_now end',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'webhook_destination text, webhook_target text)',
  'webhook_destination text, webhook_target text, sponsored boolean)',
  1);

-- The next of a model's queue: as in 0023, with the sponsored calls of a user who may run no more in parallel.
create or replace function next_in_line(wanted text, n integer, clients_only boolean)
returns table (id text, user_id text, holder text, claim integer) language sql stable as $$
  with standing as materialized (
    select v.user_id, v.high_priority, v.last_turn, r.all_go
    from model_lines v cross join lateral (
      select not clients_only and coalesce(p.parallel > w.running, true) as all_go
      from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan where w.user_id = v.user_id
    ) r
    where v.model_id = wanted and v.user_id > '' and case when r.all_go
      then (
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null limit 1)
      else coalesce((
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.holder is not null
          and l.route <> 'agent' limit 1), (
        select true from live_predictions l where not clients_only and l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.key_id is null limit 1))
    end
    order by v.high_priority desc, v.last_turn limit n + 64
  ), size as (
    select 1 + 2 * n / greatest(count(*), 1) as each from standing
  )
  select line.id, line.user_id, line.holder, line.claim
  from size cross join standing s cross join lateral (
    select l.*, row_number() over (order by l.created_at) + (
        select count(*) from live_predictions r
        where r.model_id = wanted and r.user_id = s.user_id and r.started_at is not null
      ) as turn
    from (
      -- Separate branches, because a user at the parallel limit may have a million queued before the first that may go.
      (select * from live_predictions l
        where s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.holder is not null and l.route <> 'agent'
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and not clients_only and l.model_id = wanted and l.user_id = s.user_id
          and l.high_priority = s.high_priority and l.started_at is null and l.key_id is null
        order by l.created_at limit size.each)
    ) l
  ) line
  order by line.high_priority desc, line.turn, s.last_turn, line.created_at limit n
$$;

select rewrite_function(
  'start_agent_calls(text)',
  'select l.id, l.user_id, l.model_id from unnest(ids)',
  'select l.id, l.user_id, l.model_id, l.key_id is null as sponsored from unnest(ids)',
  1);
select rewrite_function(
  'start_agent_calls(text)',
  'if user_room[u] > 0 and model_room[m] > 0 then
      user_room[u] := user_room[u] - 1;',
  'if (call.sponsored or user_room[u] > 0) and model_room[m] > 0 then
      user_room[u] := user_room[u] - case when call.sponsored then 0 else 1 end;',
  1);
select rewrite_function(
  'start_agent_calls(text)',
  'counts_parallel = true where l.id = any (taken)',
  'counts_parallel = l.key_id is not null where l.id = any (taken)',
  1);
select rewrite_function(
  'start_agent_calls(text)',
  'from live_predictions l where l.id = any (taken) group by 1) d
  where w.user_id = d.user_id',
  'from live_predictions l where l.id = any (taken) and l.key_id is not null group by 1) d
  where w.user_id = d.user_id',
  1);
