-- The sliding minute of a plan's limit: pairs of a moment in milliseconds and its number of requests, oldest first.

create or replace function now_ms() returns bigint language sql volatile as $$
  select (extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

-- The requests of the last minute, and the moment of the oldest.
create or replace function last_minute(hits bigint[], now_ms bigint)
returns request_window language plpgsql immutable as $$
declare
  requests integer := 0;
  oldest_ms bigint;
begin
  for j in reverse coalesce(cardinality(hits) / 2, 0) .. 1 loop
    exit when hits[2 * j - 1] <= now_ms - 60000;
    requests := requests + hits[2 * j];
    oldest_ms := hits[2 * j - 1];
  end loop;
  return (requests, oldest_ms);
end $$;

-- The hits of the last minute and new ones. Above a thousand per minute they are counted in steps of 60 milliseconds.
create or replace function add_hits(hits bigint[], now_ms bigint, added integer, per_minute integer)
returns bigint[] language plpgsql immutable as $$
declare
  kept bigint[];
  moment bigint := case when per_minute > 1000 then now_ms / 60 * 60 else now_ms end;
begin
  select coalesce(array_agg(x order by j, side), '{}') into kept
  from generate_series(1, cardinality(hits) / 2) j
    cross join lateral (values (1, hits[2 * j - 1]), (2, hits[2 * j])) as pair (side, x)
  where hits[2 * j - 1] > now_ms - 60000;
  if cardinality(kept) > 0 and kept[cardinality(kept) - 1] >= moment then
    kept[cardinality(kept)] := kept[cardinality(kept)] + added;
    return kept;
  end if;
  return kept || moment || added::bigint;
end $$;

-- Milliseconds until more than `over` of the oldest requests have left the minute.
create or replace function until_request(wanted text, now_ms bigint, over integer)
returns bigint language sql stable as $$
  select coalesce((
    select greatest(1, moment + 60000 - now_ms) from (
      select w.hits[2 * j - 1] as moment, sum(w.hits[2 * j]) over (order by j) as gone
      from wallets w cross join generate_series(1, cardinality(w.hits) / 2) j
      where w.user_id = wanted and w.hits[2 * j - 1] > now_ms - 60000
    ) hit where gone > over order by moment limit 1), 60000)
$$;

-- A decision with the state of the plan's minute after it.
create or replace function limits_after(verdict text, w wallet_state) returns admission language plpgsql as $$
begin
  return row(verdict, w.per_minute, greatest(0, w.per_minute - (w.minute).requests),
    coalesce((w.minute).oldest_ms + 60000 - now_ms(), 0), case verdict
      when 'rate_limit' then until_request(w.user_id, now_ms(), (w.minute).requests - w.more_requests - w.per_minute)
      when 'too_many_parallel' then 1000 end)::admission;
end $$;

-- The tokens of a key's last minute: pairs of a second and its tokens, at most one pair for each second.

-- A clock that was set back must not block a key for longer than a minute.
create or replace function is_within_minute(second bigint) returns boolean language sql volatile as $$
  select abs(second * 1000 - now_ms()) < 60000
$$;

create or replace function tokens_in(window_tokens bigint[]) returns bigint language plpgsql volatile as $$
declare
  sum bigint := 0;
begin
  for j in 1 .. coalesce(cardinality(window_tokens) / 2, 0) loop
    if is_within_minute(window_tokens[2 * j - 1]) then sum := sum + window_tokens[2 * j]; end if;
  end loop;
  return sum;
end $$;

-- The pairs of the last minute, with tokens added to some seconds or taken from them.
create or replace function add_tokens(window_tokens bigint[], seconds bigint[], added bigint[])
returns bigint[] language sql volatile as $$
  select coalesce(array_agg(x order by second, side), '{}') from (
    select second, sum(tokens)::bigint as tokens from (
      select window_tokens[2 * j - 1] as second, window_tokens[2 * j] as tokens
      from generate_series(1, cardinality(window_tokens) / 2) j
      union all
      select * from unnest(seconds, added)
    ) pair where is_within_minute(second) group by second having sum(tokens) <> 0
  ) kept cross join lateral (values (1, second), (2, tokens)) as pair (side, x)
$$;

-- Milliseconds until `wanted` more tokens fit into the key's minute. Null if they fit now.
create or replace function until_tokens(k key_limits, wanted bigint) returns bigint language sql volatile as $$
  select case when k.minute_used + wanted > k.per_minute then coalesce((
    select greatest(1, second * 1000 + 60000 - now_ms()) from (
      select s.window_tokens[2 * j - 1] as second, sum(s.window_tokens[2 * j]) over (order by j) as gone
      from key_tokens s cross join generate_series(1, cardinality(s.window_tokens) / 2) j
      where s.key_id = k.id and is_within_minute(s.window_tokens[2 * j - 1])
    ) pair where gone >= k.minute_used + wanted - k.per_minute order by second limit 1), 60000) end
$$;
