-- Traces of runs, and confirmations of all runs of a user.

-- From the start of the model call to its first token. Null in steps of earlier versions.
alter table run_steps add column first_token_ms integer;

-- Model calls of a run, including those that failed and are not steps.
create index ended_predictions_of_run on ended_predictions (run_id) where run_id is not null;

-- The caller of the run.
alter table run_confirmations add column user_id text;
update run_confirmations q set user_id = r.user_id from runs r where r.id = q.run_id;
create index run_confirmations_of_user on run_confirmations (user_id, created_at desc, id desc);
create index run_confirmations_pending on run_confirmations (user_id, created_at desc, id desc) where status = 'pending';
