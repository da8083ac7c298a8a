-- Traces of runs, and confirmations of all runs of a user.

-- From the start of the model call to its first token. Null in steps of earlier versions.
alter table run_steps add column first_token_ms integer;

-- The caller of the run.
alter table run_confirmations add column user_id text;
update run_confirmations q set user_id = r.user_id from runs r where r.id = q.run_id;
