-- Brings a database whose last migration is 0050-bare-media-types.sql, the last one before 0001-baseline.sql, to the schema of
-- that baseline. One transaction, while no node runs: programs from before cannot work beside it.

do $$
begin
  if exists (select 1 from nodes where heartbeat_at > now() - interval '15 seconds') then
    raise exception 'Another node is running on this database, or was running 15 seconds ago. This upgrade needs all nodes to be stopped once. Stop them, then start this one again.';
  end if;
end $$;

-- Sums by hour and the ledger's charges are derived from usage. A user's rows are written under the lock of the wallet,
-- each later than the one before, so that one moment a wallet says which of them are in the sums.
alter table wallets
  add column folded_until timestamptz not null default '-infinity',
  add column unfolded integer not null default 0,
  -- Queued predictions and agents' calls that have not started.
  add column waiting integer not null default 0 check (waiting >= 0);
update wallets w set folded_until = clock_timestamp(), waiting = coalesce((
  select count(*) from live_predictions l
  where l.user_id = w.user_id and l.started_at is null and (l.holder is null or l.route = 'agent')), 0);
-- Charges of usage before this moment are entries of the ledger.
alter table usage_marks add column charges_until timestamptz not null default '-infinity';
update usage_marks set charges_until = clock_timestamp();

-- What later parts of the service write down of a call: the protocol it came by, the backend that answered, and who acted
-- for the user that pays.
alter table live_predictions add column run_id text, add column door text, add column backend text, add column actor_id text;
alter table ended_predictions add column run_id text, add column door text, add column backend text, add column actor_id text,
  add column input json, add column price_micros bigint not null default 0, add column reserved_micros bigint;
alter table usage add column door text, add column backend text, add column actor_id text;

-- Functions are applied from their source after this. All those of before are dropped, so that none of them stays behind.
-- Last, because the statements above may name them.
do $$
declare
  old regprocedure;
begin
  for old in
    select p.oid from pg_proc p join pg_class c on c.relnamespace = p.pronamespace
    where c.oid = 'schema_migrations'::regclass and p.proname in (
      'add_hits', 'admit_and_grant', 'admit_predictions', 'append_events', 'asks_below', 'choose_jobs',
      'claim_predictions', 'claim_runs', 'grant_slots', 'hand_on_slots', 'hit_slack_ms', 'last_minute',
      'leave_lines', 'mend_lines', 'next_in_line', 'note_turns', 'release_predictions', 'release_runs',
      'resolve_confirmation', 'resolved_event', 'rewrite_function', 'settle_predictions', 'show_waiting',
      'shown_call_id', 'start_agent_calls', 'take_jobs', 'write_plain_changes', 'write_predictions', 'write_runs')
  loop
    execute format('drop function %s', old);
  end loop;
end $$;
