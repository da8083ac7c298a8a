-- Several backends of a model: circuits, capacity and figures.

-- Opens a circuit, or opens it again after its probe failed. The cool-down doubles each time, from 5 seconds to 5 minutes.
-- `asked_ms`: the backend asked for this pause, which does not count as an opening. No effect while the circuit is open, or
-- while another node probes it.
create or replace function open_circuit(model text, name text, node text, why text, failed integer, asked_ms integer)
returns void language plpgsql as $$
declare
  c backend_circuits;
begin
  insert into backend_circuits as k (model_id, backend, reason, failures, opened, open_until)
  values (model, name, why, failed, case when asked_ms is null then 1 else 0 end,
    now() + make_interval(secs => coalesce(asked_ms / 1000.0, cool_down(1))))
  on conflict (model_id, backend) do update set
    reason = why, failures = failed, probe_node = null,
    opened = k.opened + case when asked_ms is null then 1 else 0 end,
    open_until = now() + make_interval(secs => coalesce(asked_ms / 1000.0, cool_down(k.opened + 1)))
  where k.open_until <= now() and (k.probe_node is null or k.probe_node = node)
  returning * into c;
  if found then perform notify_circuit(c); end if;
end $$;

-- With jitter, so that the probes of many circuits do not come together.
create or replace function cool_down(opened integer) returns float8 language sql volatile as $$
  select least(5 * 2 ^ least(opened - 1, 10), 300) * (0.9 + random() * 0.2)
$$;

-- True if the node may send the only probe.
create or replace function claim_probe(model text, name text, node text) returns boolean language plpgsql as $$
declare
  c backend_circuits;
begin
  update backend_circuits k set probe_node = node
  where k.model_id = model and k.backend = name and k.open_until <= now() and k.probe_node is null
  returning * into c;
  if not found then return false; end if;
  perform notify_circuit(c);
  return true;
end $$;

-- The probe ended without a verdict: the next call may probe.
create or replace function release_probe(model text, name text, node text) returns void language plpgsql as $$
declare
  c backend_circuits;
begin
  update backend_circuits k set probe_node = null
  where k.model_id = model and k.backend = name and k.probe_node = node
  returning * into c;
  if found then perform notify_circuit(c); end if;
end $$;

create or replace function close_circuit(model text, name text) returns void language plpgsql as $$
begin
  delete from backend_circuits k where k.model_id = model and k.backend = name;
  if found then perform pg_notify('gantry_circuits', json_build_object('model', model, 'backend', name)::text); end if;
end $$;

-- The backends of a model were changed: all its circuits are closed.
create or replace function forget_circuits(model text) returns void language plpgsql as $$
begin
  delete from backend_circuits k where k.model_id = model;
  if found then perform pg_notify('gantry_circuits', json_build_object('model', model)::text); end if;
end $$;

-- A circuit as nodes keep it. Times are relative, because the clocks of nodes differ.
create or replace function circuit_state(c backend_circuits) returns json language sql stable as $$
  select json_build_object('model', c.model_id, 'backend', c.backend, 'probing', c.probe_node is not null,
    'openMs', greatest(0, extract(epoch from c.open_until - clock_timestamp()) * 1000)::float8)
$$;

create or replace function notify_circuit(c backend_circuits) returns void language sql as $$
  select pg_notify('gantry_circuits', circuit_state(c)::text)
$$;

-- Claims one of the backend's slots. Exact over all nodes: the row is locked and read again.
create or replace function claim_backend_slot(call text, model text, name text, most integer, node text)
returns boolean language plpgsql as $$
begin
  insert into backend_slots (model_id, backend) values (model, name) on conflict do nothing;
  update backend_slots s set running = s.running + 1
  where s.model_id = model and s.backend = name and s.running < most;
  if not found then
    update backend_slots s set is_wanted = true where s.model_id = model and s.backend = name and not s.is_wanted;
    return false;
  end if;
  insert into backend_calls (id, model_id, backend, node_id) values (call, model, name, node);
  return true;
end $$;

-- Frees the slots of calls. A slot that was freed before, because its node was considered dead, is not freed twice.
create or replace function free_backend_slots(calls text[]) returns void language plpgsql as $$
declare
  r record; was_wanted boolean;
begin
  for r in
    with gone as (delete from backend_calls c where c.id = any (calls) returning c.model_id, c.backend)
    select g.model_id, g.backend, count(*)::integer as n from gone g group by 1, 2 order by 1, 2
  loop
    select s.is_wanted into was_wanted from backend_slots s
      where s.model_id = r.model_id and s.backend = r.backend for update;
    update backend_slots s set running = s.running - r.n, is_wanted = false
      where s.model_id = r.model_id and s.backend = r.backend;
    if was_wanted then perform pg_notify('gantry_backend_freed', r.model_id); end if;
  end loop;
end $$;

-- Adds the calls of a node: [{model, backend, calls, failures, latencies}].
create or replace function add_backend_figures(added json) returns void language sql as $$
  insert into backend_figures as f (model_id, backend, at, calls, failures, latencies)
  select a.model, a.backend, date_bin('5 minutes', now(), timestamptz '2000-01-01'), a.calls, a.failures, a.latencies
  from json_to_recordset(added) as a (model text, backend text, calls integer, failures integer, latencies integer[])
  order by a.model, a.backend
  on conflict (model_id, backend, at) do update set calls = f.calls + excluded.calls,
    failures = f.failures + excluded.failures,
    latencies = array(
      select coalesce(x.a, 0) + coalesce(x.b, 0)
      from unnest(f.latencies, excluded.latencies) with ordinality as x (a, b, i) order by x.i)
$$;

-- Deletes what belongs to no backend any more.
create or replace function forget_old_backends() returns void language plpgsql as $$
begin
  delete from backend_figures f where f.at < now() - interval '25 hours';
  delete from backend_circuits k where not lists_backend(k.model_id, k.backend);
  delete from backend_slots s where s.running = 0 and not lists_backend(s.model_id, s.backend);
end $$;

create or replace function lists_backend(model text, name text) returns boolean language sql stable as $$
  select exists (
    select 1 from models m cross join lateral json_array_elements(m.manifest -> 'backends') b
    where m.id = model and m.retired_at is null and b ->> 'name' = name)
$$;
