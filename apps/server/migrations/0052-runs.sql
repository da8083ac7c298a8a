-- What these triggers did is part of the functions that write the columns.
drop trigger runs_do_not_rest_out_of_time on runs;
drop trigger runs_tell_of_questions on runs;
drop trigger runs_end_after_they_began on runs;
drop function wake_out_of_time();
drop function tell_of_question();
drop function end_no_sooner();

-- Replaced by functions with another signature or result.
drop function write_plain_changes(json);
drop function write_runs(json);
drop function claim_runs(text, integer);
drop function append_events(text, json);

alter table runs
  drop column parked_at_ms,
  -- A reader follows the events. Without one, new events are not announced.
  add column followed boolean not null default false,
  -- Who acted for the user that pays, the protocol by which the run came, and the conversation that it is part of.
  add column actor_id text,
  add column door text,
  add column thread_id text;
-- Whoever follows one at this moment is still told.
update runs set followed = true where status in ('pending', 'running');

-- The end of a call is written into the row of its start, on the same page where there is room.
alter table run_calls set (fillfactor = 50);

-- PostgreSQL reads and plans the text of each check anew for every statement that writes a row. That was a sixth of what a
-- step of a run cost it. Only `write_runs`, `claim_runs` and the insert of a run write these columns.
alter table runs drop constraint runs_status_check, drop constraint runs_phase_check, drop constraint runs_check,
  drop constraint runs_price_micros_check;
alter table run_steps drop constraint run_steps_kind_check;
alter table run_calls drop constraint run_calls_kind_check, drop constraint run_calls_status_check;
