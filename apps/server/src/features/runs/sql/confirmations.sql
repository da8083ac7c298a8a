create or replace function asks_below(wanted text, root text)
returns boolean language sql stable as $$
  select exists (
    select 1 from run_confirmations q join runs b on b.id = q.run_id
    where q.root_id = root and q.status = 'pending' and (b.id = wanted or wanted = any (b.ancestors)))
$$;

-- Updates the phase of parked runs: whether they or their descendants have a pending confirmation. Readers that wait for
-- the end of such a run are notified, because only the caller can confirm.
create or replace function show_waiting(wanted text[], root text)
returns void language sql as $$
  with shown as (
    update runs r set phase = case when r.phase = 'working' then 'awaiting_confirmation' else 'working' end
    where r.id = any (wanted) and r.holder is null and r.status = 'running'
      and r.phase = case when asks_below(r.id, root) then 'working' else 'awaiting_confirmation' end
    returning r.id, r.phase
  )
  select pg_notify('gantry_run_ended', s.id) from shown s where s.phase = 'awaiting_confirmation'
$$;

create or replace function resolve_confirmation(wanted text, answer text, why text)
returns json language plpgsql as $$
declare
  q run_confirmations;
  chain text[];
begin
  select r.ancestors || r.id into chain from run_confirmations c join runs r on r.id = c.run_id where c.id = wanted;
  perform 1 from runs r where r.id = any (chain) order by cardinality(r.ancestors), r.id for update;
  if answer <> 'expired' and exists (
    select 1 from runs r where r.id = any (chain)
      and (r.status in ('done', 'error') or r.cancel_requested or r.active_ms >= r.timeout_ms)) then
    return null;
  end if;
  update run_confirmations set status = answer, reason = why, resolved_at = clock_timestamp()
    where id = wanted and status = 'pending' and (answer = 'expired' or expires_at > clock_timestamp()) returning * into q;
  if q.id is null then return null; end if;
  perform append_events(one.id, resolved_event(q.id, q.tool, answer, why)) from unnest(chain) as one (id);
  update runs r set parked = false
  where r.id = q.run_id and r.parked and not exists (
    select 1 from run_confirmations o where o.run_id = q.run_id and o.status = 'pending');
  perform show_waiting(chain, q.root_id);
  return json_build_object('id', q.id, 'run_id', q.run_id);
end $$;
