-- no transaction
-- Indexes of growing tables that the migrations before this one changed.

create index concurrently if not exists usage_of_run on usage (run_id, created_at desc, request_id desc)
  where run_id is not null;

-- Model calls of a run, including those that failed and are not steps.
create index concurrently if not exists ended_predictions_of_run on ended_predictions (run_id) where run_id is not null;

create index concurrently if not exists run_confirmations_of_user on run_confirmations (user_id, created_at desc, id desc);
create index concurrently if not exists run_confirmations_pending on run_confirmations (user_id, created_at desc, id desc)
  where status = 'pending';

create index concurrently if not exists runs_of_sequence on runs (sequence, id)
  where sequence is not null and completed_at is null;
create index concurrently if not exists runs_of_source on runs (source_id, id desc) where source_id is not null;
-- Runs of a schedule or trigger that are under way.
create index concurrently if not exists runs_live_of_source on runs (source_id)
  where source_id is not null and completed_at is null;
create index concurrently if not exists runs_of_thread on runs (user_id, thread_id, id) where thread_id is not null;
create index concurrently if not exists runs_with_turns_summary on runs (user_id, thread_id, id)
  where turns_summary is not null;

create index concurrently if not exists webhook_deliveries_of_run on webhook_deliveries (run_id) where run_id is not null;
