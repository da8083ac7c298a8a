-- Whether a run waits for another run of its sequence: for one that has started, or for an earlier one. Its columns are
-- read with the lock of `claim_runs`, so two runs of a sequence never start together.
create or replace function waits_in_sequence(run runs)
returns boolean language sql stable as $$
  select run.sequence is not null and run.status = 'pending' and exists (
    select from runs other
    where other.sequence = run.sequence and other.completed_at is null
      and (other.status = 'running' or other.id < run.id) and other.id <> run.id)
$$;

-- Claims at most `wanted` runs for a node. The plan of a user limits its claimed runs over all nodes; further runs stay
-- pending. Every user's first run comes before any user's second. `spare` limits the runs of users who already have a
-- claimed run: a node keeps the other slots for users without one.
create or replace function claim_runs(node text, wanted integer, spare integer)
returns setof runs language plpgsql
set plan_cache_mode to 'force_generic_plan' set enable_seqscan to 'off' as $$
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
        -- No more are looked at: runs that wait in long sequences must not hold up the claims of other users.
        select r.id, coalesce(r.ancestors[1], r.id) as root, r as run from runs r
        where r.user_id = u.user_id and r.holder is null and not r.parked and r.status in ('pending', 'running')
        order by coalesce(r.ancestors[1], r.id), r.id limit 1000
      ) first
      where ((first.run).sequence is null or not waits_in_sequence(first.run))
        -- A node of an earlier version does not know the earlier turns.
        and ((first.run).thread_id is null or exists (select from nodes n where n.id = node and n.runs_threads))
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
