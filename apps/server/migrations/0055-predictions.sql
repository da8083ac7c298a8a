-- A line says how many of its user's predictions run on the model since it stands, and where the first that waits may be:
-- nobody in it came before `head`, so that a look for the next does not pass over those who have gone.
alter table model_lines add column running integer not null default 0, add column head timestamptz not null default '-infinity';
update model_lines v set running = (
  select count(*) from live_predictions l
  where l.model_id = v.model_id and l.user_id = v.user_id and l.started_at is not null);

-- Rows that run are found by model and user; those that wait have indexes of their own.
drop index live_predictions_holder;
drop index live_predictions_for_workers;

drop table last_turns;
drop function settle_predictions(json);
drop function admit_and_grant(text[], text[], text[], json, date, bigint);
drop function admit_predictions(text[], text[], text[], json, date, bigint);
drop type admission;
drop function grant_slots(text[], boolean);
drop function hand_on_slots(text[], text[]);
drop function next_in_line(text, integer, boolean);
drop function note_turns(text[]);
drop function leave_lines(text[]);
drop function mend_lines();
drop function choose_jobs(integer);
drop function take_jobs(text, text[], integer);
drop function claim_predictions(text, integer);
drop function release_predictions(text[], integer[], boolean);
drop function start_agent_calls(text);
do $$
declare
  one regprocedure;
begin
  for one in select oid::regprocedure from pg_proc where proname = 'write_predictions' loop
    execute format('drop function %s', one);
  end loop;
end $$;

-- What becomes of an arrival, and what the plan's minute allows after it.
create type admission as (
  verdict text, rate_limit integer, rate_remaining integer, rate_reset_ms bigint, retry_after_ms bigint
);
-- While arrivals are decided: what a wallet, a key and a model have left, and what is to be added to their rows.
create type wallet_state as (
  user_id text, available bigint, running integer, parallel integer, per_minute integer, minute request_window,
  more_reserved bigint, more_running integer, more_waiting integer, more_requests integer
);
create type key_state as (id text, monthly_limit bigint, used bigint, more bigint);
create type model_state as (
  model_id text, capacity integer, is_retired boolean, running integer, waiting integer, more_running integer,
  more_waiting integer
);
-- What ends take from a wallet, or from the slots of a model.
create type account_change as (price bigint, reserved bigint, running integer, waiting integer, n integer);
-- What comes to be admitted. A value that is not known is null.
create type prediction_arrival as (
  id text, user_id text, key_id text, model_id text, model_name text, route text, high_priority boolean,
  reservation bigint, queue_seconds double precision, purpose text, run_id text, must_be_covered boolean,
  sponsored boolean, hand_free boolean, input text, pricing text, bounds text, base_url text, webhook_destination text,
  webhook_target text, door text, backend text, actor_id text
);
-- What a prediction came to.
create type prediction_end as (
  id text, claim integer, status integer, inference_ms integer, output text, error text, input_tokens integer,
  output_tokens integer, cached_tokens integer, cache_write_tokens integer, stream_details text, price bigint,
  backend text, input text
);
-- Checked anew whenever a transaction changes a row twice. Users and models are never deleted.
alter table wallets drop constraint wallets_user_id_fkey;
alter table model_slots drop constraint model_slots_model_id_fkey;
-- PostgreSQL reads and plans each check anew for every statement that writes a row: one a table.
alter table wallets drop constraint wallets_reserved_micros_check, drop constraint wallets_running_check,
  drop constraint wallets_waiting_check,
  add constraint wallets_not_negative check (reserved_micros >= 0 and running >= 0 and waiting >= 0);
alter table model_slots drop constraint model_slots_running_check, drop constraint model_slots_waiting_check,
  add constraint model_slots_not_negative check (running >= 0 and waiting >= 0);
alter table live_predictions drop constraint live_predictions_route_check;
insert into model_slots (model_id) select id from models on conflict do nothing;
