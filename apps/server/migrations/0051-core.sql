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
