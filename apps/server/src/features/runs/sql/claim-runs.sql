-- Claims at most `wanted` runs for a node. The plan of a user limits its claimed runs over all nodes; further runs stay
-- pending. Every user's first run comes before any user's second. `spare` limits the runs of users who already have a
-- claimed run: a node keeps the other slots for users without one.
create or replace function claim_runs(node text, wanted integer, spare integer)
returns setof runs language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
declare
  -- A node of an earlier version does not know the earlier turns.
  knows_threads boolean := exists (select from nodes n where n.id = node and n.runs_threads);
begin
  -- One claim at a time over all nodes. Two at once could both count the same free slot of a user.
  perform pg_advisory_xact_lock(hashtext('gantry.runs.claim'));
  return query
  with recursive ready_users as (
    (select r.user_id from runs r where r.holder is null and not r.parked and r.status in ('pending', 'running')
      order by r.user_id limit 1)
    union all
    select (select r.user_id from runs r where r.holder is null and not r.parked and r.status in ('pending', 'running')
      and r.user_id > u.user_id order by r.user_id limit 1)
    from ready_users u where u.user_id is not null
  ), candidates as (
    select next.id, row_number() over (order by next.nth, next.root, next.id) as place, next.nth
    from ready_users u join users on users.id = u.user_id join plans p on p.name = users.plan
    cross join lateral (
      select count(*)::int as n from runs h where h.user_id = u.user_id and h.holder is not null
    ) held
    cross join lateral (
      select first.id, first.root, held.n + row_number() over (order by first.root, first.id) as nth
      from (
        (
          select r.id, coalesce(r.ancestors[1], r.id) as root from runs r
          where r.user_id = u.user_id and r.holder is null and not r.parked and r.status in ('pending', 'running')
            and (r.sequence is null or r.status = 'running') and (r.thread_id is null or knows_threads)
          order by coalesce(r.ancestors[1], r.id), r.id limit wanted
        )
        union all
        -- The first run of each sequence, unless a run of the sequence has started: the others wait for it. What ended
        -- before the lock is seen here, so two runs of a sequence never start together. The limit keeps the lock short.
        select r.id, r.id
        from (
          with recursive heads as (
            (select r.sequence, r.id from runs r
              where r.user_id = u.user_id and r.holder is null and not r.parked and r.status = 'pending'
                and r.sequence is not null
              order by r.sequence, r.id limit 1)
            union all
            select next.sequence, next.id from heads h cross join lateral (
              select r.sequence, r.id from runs r
              where r.user_id = u.user_id and r.holder is null and not r.parked and r.status = 'pending'
                and r.sequence is not null and r.sequence > h.sequence
              order by r.sequence, r.id limit 1) next
          )
          select * from heads limit 1000
        ) head join runs r on r.id = head.id
        where (r.thread_id is null or knows_threads)
          and not exists (select from runs other where other.sequence = head.sequence and other.status = 'running')
          and not exists (
            select from runs other
            where other.sequence = head.sequence and other.completed_at is null and other.id < head.id)
      ) first
      order by first.root, first.id limit greatest(0, least(wanted, p.parallel - held.n))
    ) next
  ), free as (
    -- Asked as `completed_at`, live runs are looked up by id. By `status`, the planner would read all of `runs_next`.
    select r.id from runs r
    where r.id = any (array(select c.id from candidates c where c.place <= wanted and (c.nth = 1 or c.place <= spare)))
      and r.holder is null and not r.parked and r.completed_at is null
    for update skip locked
  )
  update runs r set holder = node, claim = r.claim + 1, status = 'running', started_at = coalesce(r.started_at, clock_timestamp())
  from free where r.id = free.id returning r.*;
end $$;

-- Releases the claims of a dead node, so that other nodes continue the runs.
create or replace function release_runs(dead_holder text)
returns integer language plpgsql as $$
declare
  n integer;
begin
  with free as (select r.id from runs r where r.holder = dead_holder for update skip locked)
  update runs r set holder = null, claim = r.claim + 1, deaths = r.deaths + 1 from free where r.id = free.id;
  get diagnostics n = row_count;
  return n;
end $$;
