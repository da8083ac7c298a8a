-- Brings a database whose last migration is 0050-bare-media-types.sql, the last one before 0001-baseline.sql, to the schema of
-- that baseline. One transaction, while no node runs: earlier programs cannot work beside it.

do $$
begin
  if exists (select 1 from nodes where heartbeat_at > now() - interval '15 seconds') then
    raise exception 'Another node is running on this database, or was running 15 seconds ago. This upgrade needs all nodes to be stopped once. Stop them, then start this one again.';
  end if;
end $$;

-- Functions are applied from their source after this. All earlier ones are dropped.
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

-- Sums by hour and the ledger's charges are derived from usage. A user's rows are written under the lock of the wallet,
-- each later than the one before. So one timestamp of the wallet says which rows are in the sums.
alter table wallets
  add column folded_until timestamptz not null default '-infinity',
  add column unfolded integer not null default 0,
  -- Queued predictions and agents' calls that have not started.
  add column waiting integer not null default 0 check (waiting >= 0);
update wallets w set folded_until = clock_timestamp(), waiting = coalesce((
  select count(*) from live_predictions l
  where l.user_id = w.user_id and l.started_at is null and (l.holder is null or l.route = 'agent')), 0);
-- Charges before this moment are ledger entries.
alter table usage_marks add column charges_until timestamptz not null default '-infinity';
update usage_marks set charges_until = clock_timestamp();

-- The protocol of a call, the backend that answered, and who acted for the paying user.
alter table live_predictions add column run_id text, add column door text, add column backend text, add column actor_id text;
alter table ended_predictions add column run_id text, add column door text, add column backend text, add column actor_id text,
  add column input json, add column price_micros bigint not null default 0, add column reserved_micros bigint;
alter table usage add column door text, add column backend text, add column actor_id text;

-- The functions that write the columns do the work of these triggers.
drop trigger runs_do_not_rest_out_of_time on runs;
drop trigger runs_tell_of_questions on runs;
drop trigger runs_end_after_they_began on runs;
drop function wake_out_of_time();
drop function tell_of_question();
drop function end_no_sooner();

alter table runs
  drop column parked_at_ms,
  -- A reader follows the events. Without one, new events are not announced.
  add column followed boolean not null default false,
  -- Who acted for the paying user, the protocol of the request, and the conversation of the run.
  add column actor_id text,
  add column door text,
  add column thread_id text;
-- Current followers still receive events.
update runs set followed = true where status in ('pending', 'running');

-- The end of a call updates the row of its start, on the same page if possible.
alter table run_calls set (fillfactor = 50);

-- PostgreSQL parses and plans each check again for every statement that writes a row. That was a sixth of the cost of a run's
-- step. Only `write_runs`, `claim_runs` and the insert of a run write these columns.
alter table runs drop constraint runs_status_check, drop constraint runs_phase_check, drop constraint runs_check,
  drop constraint runs_price_micros_check;
alter table run_steps drop constraint run_steps_kind_check;
alter table run_calls drop constraint run_calls_kind_check, drop constraint run_calls_status_check;

-- The statement that writes a row also writes derived values. Triggers remain only to refuse changes.

drop trigger files_count_change on files;
drop trigger files_count_end on files;
drop trigger files_link_begin on files;
drop trigger files_link_end on files;
drop trigger drive_items_count_new on drive_items;
drop trigger drive_items_count_change on drive_items;
drop trigger drive_items_count_end on drive_items;
drop trigger drives_count_end on drives;
drop trigger models_note_names on models;
drop trigger agents_note_names on agents;
drop trigger users_have_wallets on users;
drop function count_upload(), count_drive_items(), count_deleted_drive(), note_open_link(), note_model_names(),
  note_agent_names(), give_wallet();

-- Generated from the manifest, like the other columns. The owner's name is written with the row.
alter table models drop column search_text;
alter table models add column search_text text
  generated always as (lower(owner || '/' || name || ' ' || (manifest ->> 'title'))) stored;
create index models_listed on models (owner, name) include (id, owner_id, visibility, kind, search_text)
  where retired_at is null;

-- Functions write the ledger and the wallets together (features/billing/sql). The triggers that did so, and that added late
-- usage to closed days, go. Those that keep the ledger append-only stay.
drop trigger ledger_moves_wallets on ledger;
drop trigger wallets_follow_the_ledger on wallets;
drop trigger closed_days_get_late_usage on usage;
drop function apply_to_wallets(), refuse_balance_by_hand(), add_to_closed_days();

-- The balance after a credit or correction, for repeats with the same Idempotency-Key. Charges are no longer entries, so the
-- earlier entries do not add up to it.
alter table ledger add column balance_micros bigint;
alter table ledger disable trigger ledger_is_append_only;
update ledger l set balance_micros = (
  select sum(case when e.to_account = wallet.account then e.amount_micros else -e.amount_micros end)
  from (values (case l.kind when 'credit' then l.to_account else l.from_account end)) as wallet (account),
    lateral (
      select * from ledger where to_account = wallet.account and to_account <> 'platform'
      union all select * from ledger where from_account = wallet.account and kind in ('charge', 'sale')
      union all select * from ledger where from_account = wallet.account and kind = 'correction'
    ) e
  where e.id <= l.id)
where l.kind in ('credit', 'correction') and l.reference like 'credit:%';
alter table ledger enable trigger ledger_is_append_only;

-- The payments of a user, newest first, so that the list of the ledger skips free requests.
create index usage_paid on usage (user_id, created_at desc, request_id desc) where price_micros > 0;

-- Usage may be dated after now, by a clock that was ahead. It is in the sums and in the ledger too.
update usage_marks set charges_until = greatest(charges_until, (select max(created_at) from usage) + interval '1 us');
update wallets w set folded_until = greatest(w.folded_until, m.charges_until) from usage_marks m;

-- The charge is stored with the result, because the ledger no longer has it.
update ended_predictions e set price_micros = l.amount_micros
from ledger l where l.kind = 'charge' and l.reference = e.id and e.price_micros <> l.amount_micros;

-- `running` counts the user's running predictions of the model. No prediction in the queue is older than `head`, so that a
-- search for the next one skips those that have left.
alter table model_lines add column running integer not null default 0, add column head timestamptz not null default '-infinity';
update model_lines v set running = (
  select count(*) from live_predictions l
  where l.model_id = v.model_id and l.user_id = v.user_id and l.started_at is not null);

-- Running rows are found by model and user. Waiting rows have their own indexes.
drop index live_predictions_holder;
drop index live_predictions_for_workers;

drop table last_turns;
drop type admission;

-- The decision about an arrival, and the state of the plan's minute after it.
create type admission as (
  verdict text, rate_limit integer, rate_remaining integer, rate_reset_ms bigint, retry_after_ms bigint
);
-- During admission: the remaining limits of a wallet, a key and a model, and the changes to their rows.
create type wallet_state as (
  user_id text, available bigint, running integer, parallel integer, per_minute integer, minute request_window,
  more_reserved bigint, more_running integer, more_waiting integer, more_requests integer
);
create type key_state as (id text, monthly_limit bigint, used bigint, more bigint);
create type model_state as (
  model_id text, capacity integer, is_retired boolean, running integer, waiting integer, more_running integer,
  more_waiting integer
);
-- The changes of a wallet, or of a model's slots, by ends.
create type account_change as (price bigint, reserved bigint, running integer, waiting integer, n integer);
-- An arriving prediction. Unknown values are null.
create type prediction_arrival as (
  id text, user_id text, key_id text, model_id text, model_name text, route text, high_priority boolean,
  reservation bigint, queue_seconds double precision, purpose text, run_id text, must_be_covered boolean,
  sponsored boolean, hand_free boolean, input text, pricing text, bounds text, base_url text, webhook_destination text,
  webhook_target text, door text, backend text, actor_id text
);
-- The end of a prediction.
create type prediction_end as (
  id text, claim integer, status integer, inference_ms integer, output text, error text, input_tokens integer,
  output_tokens integer, cached_tokens integer, cache_write_tokens integer, stream_details text, price bigint,
  backend text, input text
);
-- Checked again if a transaction changes a row twice. Users and models are never deleted.
alter table wallets drop constraint wallets_user_id_fkey;
alter table model_slots drop constraint model_slots_model_id_fkey;
-- PostgreSQL parses and plans each check for every statement that writes a row, so each table has one.
alter table wallets drop constraint wallets_reserved_micros_check, drop constraint wallets_running_check,
  drop constraint wallets_waiting_check,
  add constraint wallets_not_negative check (reserved_micros >= 0 and running >= 0 and waiting >= 0);
alter table model_slots drop constraint model_slots_running_check, drop constraint model_slots_waiting_check,
  add constraint model_slots_not_negative check (running >= 0 and waiting >= 0);
alter table live_predictions drop constraint live_predictions_route_check;
insert into model_slots (model_id) select id from models on conflict do nothing;
