-- `kind` is the position of the name: each kind has its own buckets. A backup of a version before has no seed.
create or replace function sign_in_bucket(kind integer, name text) returns integer language sql stable as $$
  select (kind - 1) * 65536 + (hashtextextended(name,
    coalesce((select (value #>> '{}')::bigint from settings where settings.name = 'sign_in_seed'), 0)) & 65535)::integer
$$;

-- Takes one attempt from each of the named buckets, or from none. A bucket has `bursts` attempts and gets one back after
-- `seconds`. Returns how many seconds to wait; 0: taken.
create or replace function take_sign_in_attempt(names text[], bursts integer[], seconds integer[])
returns integer language plpgsql as $$
declare
  moment timestamptz;
  wait double precision;
begin
  -- Locks the rows in the order of buckets.
  insert into sign_in_attempts as a (bucket, full_at)
  select b, '-infinity' from (
    select distinct sign_in_bucket(n.kind::integer, n.name) as b from unnest(names) with ordinality as n (name, kind)
  ) wanted order by b
  on conflict (bucket) do update set full_at = a.full_at;
  moment := clock_timestamp();
  select max(extract(epoch from greatest(a.full_at, moment) - moment) + n.pause - n.pause * n.burst) into wait
  from unnest(names, bursts, seconds) with ordinality as n (name, burst, pause, kind)
  join sign_in_attempts a on a.bucket = sign_in_bucket(n.kind::integer, n.name);
  if wait > 0 then return ceil(wait); end if;
  update sign_in_attempts a set full_at = greatest(a.full_at, moment) + make_interval(secs => n.pause)
  from unnest(names, seconds) with ordinality as n (name, pause, kind)
  where a.bucket = sign_in_bucket(n.kind::integer, n.name);
  return 0;
end $$;

-- Gives back what a successful sign-in took.
create or replace function return_sign_in_attempt(names text[], seconds integer[]) returns void language plpgsql as $$
begin
  perform 1 from sign_in_attempts a
  join unnest(names) with ordinality as n (name, kind) on a.bucket = sign_in_bucket(n.kind::integer, n.name)
  order by a.bucket for update of a;
  update sign_in_attempts a set full_at = a.full_at - make_interval(secs => n.pause)
  from unnest(names, seconds) with ordinality as n (name, pause, kind)
  where a.bucket = sign_in_bucket(n.kind::integer, n.name);
end $$;
