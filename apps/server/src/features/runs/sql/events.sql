-- Stores events of a live run whose row is locked and which has `last` events.
create or replace function store_events(run_id text, last integer, added json, followed boolean)
returns void language plpgsql as $$
begin
  insert into run_events (run_id, n, type, data)
    select store_events.run_id, last + g.i, e.type, e.data
    from json_array_elements(added) with ordinality as g (event, i), json_to_record(g.event) as e (type text, data json);
  if followed then perform pg_notify('gantry_run_events', store_events.run_id); end if;
end $$;

create or replace function append_events(wanted text, added json)
returns void language plpgsql as $$
begin
  perform store_events(run.id, run.last_event, added, run.followed)
    from runs run where run.id = wanted and run.status in ('pending', 'running');
  update runs r set last_event = r.last_event + json_array_length(added) where r.id = wanted and r.status in ('pending', 'running');
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
