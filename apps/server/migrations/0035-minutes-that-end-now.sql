-- The clock goes back: a user whose minute was full waits no longer than if it had not. The window of the last minute ended
-- nowhere, so what lay in the future counted until the clock had caught up.

-- A request's moment may be a little later than the moment of whoever looks: that one read the clock and then waited for the
-- lock. What is later than by this much was written before the clock was set back, and is no request of the last minute.
create function hit_slack_ms() returns bigint language sql immutable as $$ select 20000::bigint $$;

-- As in 0021, without what is later than now.
create or replace function last_minute(hits bigint[], now_ms bigint) returns request_window
language plpgsql immutable as $$
declare
  requests integer := 0;
  oldest_ms bigint;
  pairs integer := coalesce(cardinality(hits) / 2, 0);
begin
  while pairs > 0 and hits[2 * pairs - 1] > now_ms + hit_slack_ms() loop
    pairs := pairs - 1;
  end loop;
  for j in reverse pairs .. 1 loop
    exit when hits[2 * j - 1] <= now_ms - 60000;
    requests := requests + hits[2 * j];
    oldest_ms := hits[2 * j - 1];
  end loop;
  return (requests, oldest_ms);
end $$;

-- As in 0009, without what is later than now.
create or replace function add_hits(hits bigint[], now_ms bigint, added int, per_minute int) returns bigint[]
language plpgsql immutable as $$
declare
  kept bigint[];
  moment bigint := case when per_minute > 1000 then now_ms / 60 * 60 else now_ms end;
begin
  select coalesce(array_agg(x order by j, side), '{}') into kept
  from generate_series(1, cardinality(hits) / 2) j
    cross join lateral (values (1, hits[2 * j - 1]), (2, hits[2 * j])) as pair (side, x)
  where hits[2 * j - 1] > now_ms - 60000 and hits[2 * j - 1] <= now_ms + hit_slack_ms();
  if cardinality(kept) > 0 and kept[cardinality(kept) - 1] >= moment then
    kept[cardinality(kept)] := kept[cardinality(kept)] + added;
    return kept;
  end if;
  return kept || moment || added::bigint;
end $$;

-- A function as it stands, with one text in the place of another that it has so many times: what is changed in a long one
-- is what is read, and what earlier migrations made of it since stays.
create function rewrite_function(named regprocedure, old text, new text, times integer) returns void language plpgsql as $$
declare
  definition constant text := pg_get_functiondef(named);
begin
  if length(definition) - length(replace(definition, old, '')) <> times * length(old) then
    raise exception '% does not have the text that is to be changed % times', named, times;
  end if;
  execute replace(definition, old, new);
end $$;

-- Where it counts the requests of the last minute, and where it looks for the moment at which there is room again.
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'w.hits[2 * j - 1] > now_ms - 60000',
  'w.hits[2 * j - 1] > now_ms - 60000 and w.hits[2 * j - 1] <= now_ms + hit_slack_ms()',
  2);
