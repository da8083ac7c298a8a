create or replace function append_events(wanted text, added json)
returns void language plpgsql as $$
declare
  from_n integer;
begin
  update runs set last_event = last_event + json_array_length(added)
    where id = wanted and status in ('pending', 'running')
    returning last_event - json_array_length(added) into from_n;
  if from_n is null then return; end if;
  insert into run_events (run_id, n, type, data)
    select wanted, from_n + i, e ->> 'type', e -> 'data' from json_array_elements(added) with ordinality g (e, i);
  perform pg_notify('gantry_run_events', wanted);
end $$;

create or replace function resolved_event(id text, tool text, answer text, why text)
returns json language sql immutable as $$
  select json_build_array(json_build_object('type', 'confirmation_resolved', 'data', json_build_object(
    'confirmation_id', id, 'tool', tool, 'approved', answer = 'approved', 'status', answer, 'reason', why)))
$$;

create or replace function shown_call_id(run_id text, step integer, "position" integer)
returns text language sql immutable as $$
  select 'call_' || left(encode(sha256(convert_to(format('%s-%s-%s', run_id, step, "position"), 'UTF8')), 'hex'), 12)
$$;
