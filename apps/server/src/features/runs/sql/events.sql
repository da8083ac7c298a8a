-- Stores events of a live, locked run that has `last` events. Returns the new number of events.
create or replace function store_events(run_id text, last integer, added json, followed boolean)
returns integer language plpgsql as $$
declare
  stored integer;
begin
  insert into run_events (run_id, n, type, data)
    select store_events.run_id, last + e.i, e.type, e.data
    from rows from (json_to_recordset(added) as (type text, data json)) with ordinality as e (type, data, i);
  get diagnostics stored = row_count;
  if followed then perform pg_notify('gantry_run_events', store_events.run_id); end if;
  return last + stored;
end $$;

create or replace function append_events(wanted text, added json)
returns void language sql as $$
  update runs r set last_event = store_events(r.id, r.last_event, added, r.followed)
  where r.id = wanted and r.status in ('pending', 'running')
$$;

create or replace function resolved_event(id text, tool text, answer text, why text)
returns json language sql immutable as $$
  select json_build_array(json_build_object('type', 'confirmation_resolved', 'data', json_build_object(
    'confirmation_id', id, 'tool', tool, 'approved', answer = 'approved', 'status', answer, 'reason', why)))
$$;

create or replace function shown_call_id(run_id text, step integer, "position" integer)
returns text language sql immutable as $$
  select 'call_' || left(encode(sha256(convert_to(format('%s-%s-%s', run_id, step, "position"), 'UTF8')), 'hex'), 12)
$$;
