-- A run whose time is used up does not rest. `write_runs` raises the time of a parent when one of its children ends; the
-- parent may still wait for another child then, or for a person, and nothing would ever look at its time again. So it is
-- made ready in the same write: whoever takes it ends it as out of time, and with it all that it started and asks.
create function wake_out_of_time() returns trigger language plpgsql as $$
begin
  new.parked := false;
  return new;
end $$;

create trigger runs_do_not_rest_out_of_time before update of active_ms, parked on runs
  for each row when (new.parked and new.active_ms >= new.timeout_ms and new.status = 'running')
  execute function wake_out_of_time();

-- Those that rest already.
update runs set parked = false where parked and active_ms >= timeout_ms and status = 'running';

-- As in 0022; a question of what has ended, or is about to, is no longer answered: it expires with its run. So a write is
-- not approved whose run, or one above it, is out of time or cancelled and only not ended yet.
create or replace function resolve_confirmation(wanted text, answer text, why text) returns json language plpgsql as $$
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
