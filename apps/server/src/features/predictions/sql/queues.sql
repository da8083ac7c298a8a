-- The queue of a model. `model_lines` has one row for each user and priority that waits: `head` is the oldest waiting
-- prediction, `running` the user's running ones, `last_turn` when the user was last served.

-- Adds a user to the queue, waiting since the moment.
create or replace function join_queue(wanted_model text, wanted_user text, is_high boolean, since timestamptz)
returns void language sql as $$
  insert into model_lines as v (model_id, user_id, high_priority, head, running)
  select wanted_model, wanted_user, is_high, since, coalesce((
    select o.running from model_lines o where o.model_id = wanted_model and o.user_id = wanted_user limit 1), (
    select count(*) from live_predictions l
    where l.model_id = wanted_model and l.user_id = wanted_user and l.started_at is not null))
  on conflict (model_id, user_id, high_priority) do update set head = excluded.head where v.head > excluded.head
$$;

-- Moves the head to the first prediction that still waits, or removes the row. `started` is the number that has started.
create or replace function advance_queue(wanted_model text, wanted_user text, started integer)
returns void language plpgsql set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  v model_lines; first_waits timestamptz;
begin
  for v in select * from model_lines o where o.model_id = wanted_model and o.user_id = wanted_user loop
    select l.created_at into first_waits from live_predictions l
    where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
      and l.started_at is null and l.created_at >= v.head order by l.created_at limit 1;
    if first_waits is null then
      delete from model_lines o
      where o.model_id = v.model_id and o.user_id = v.user_id and o.high_priority = v.high_priority;
    else
      update model_lines o set head = first_waits, running = o.running + started,
        last_turn = case when started > 0 then clock_timestamp() else o.last_turn end
      where o.model_id = v.model_id and o.user_id = v.user_id and o.high_priority = v.high_priority;
    end if;
  end loop;
end $$;

-- The next predictions that may start on a model: high priority first, then the user who runs least on it, then the user
-- who was served longest ago. Users at the limit of their plan are skipped, except for clients, which count already, and
-- for calls that another user pays.
create or replace function next_in_queue(wanted text, n integer, clients_only boolean)
returns table (id text, user_id text, holder text, route text) language sql stable as $$
  with waiting as materialized (
    select v.user_id, v.high_priority, v.last_turn, v.running, v.head, r.all_go
    from model_lines v cross join lateral (
      select not clients_only and coalesce(p.parallel > w.running, true) as all_go
      from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan where w.user_id = v.user_id
    ) r
    where v.model_id = wanted and v.user_id > '' and case when r.all_go
      then (
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.created_at >= v.head limit 1)
      else coalesce((
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.holder is not null
          and l.route <> 'agent' and l.created_at >= v.head limit 1), (
        select true from live_predictions l where not clients_only and l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.key_id is null
          and l.created_at >= v.head limit 1))
    end
    order by v.high_priority desc, v.last_turn limit n + 64
  ), size as (
    select 1 + 2 * n / greatest(count(*), 1) as each from waiting
  )
  select q.id, q.user_id, q.holder, q.route
  from size cross join waiting s cross join lateral (
    select l.*, row_number() over (order by l.created_at) + s.running as rank
    from (
      -- Separate branches, because a user at the parallel limit may have a million queued before the first that may go.
      (select * from live_predictions l
        where s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.created_at >= s.head
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.holder is not null and l.route <> 'agent' and l.created_at >= s.head
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and not clients_only and l.model_id = wanted and l.user_id = s.user_id
          and l.high_priority = s.high_priority and l.started_at is null and l.key_id is null and l.created_at >= s.head
        order by l.created_at limit size.each)
    ) l
  ) q
  order by q.high_priority desc, q.rank, s.last_turn, q.created_at limit n
$$;

-- Adds missing rows. Rows are missing only after someone has changed tables by hand.
create or replace function repair_queues() returns void language sql set enable_seqscan to 'off' as $$
  with recursive queues as (
    (select l.model_id, l.user_id, l.high_priority, l.created_at from live_predictions l where l.started_at is null
      order by 1, 2, 3, 4 limit 1)
    union all
    select n.* from queues p cross join lateral (
      select l.model_id, l.user_id, l.high_priority, l.created_at from live_predictions l
      where l.started_at is null and (l.model_id, l.user_id, l.high_priority) > (p.model_id, p.user_id, p.high_priority)
      order by 1, 2, 3, 4 limit 1
    ) n
  )
  insert into model_lines as v (model_id, user_id, high_priority, head) select * from queues
  on conflict (model_id, user_id, high_priority) do update set head = excluded.head where v.head > excluded.head
$$;
