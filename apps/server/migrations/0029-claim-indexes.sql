-- no transaction
-- Runs that no other run of their sequence can hold up, in the order of claims; and for each sequence its first run that
-- waits. See features/runs/sql/claim-runs.sql.

create index concurrently if not exists runs_next_free on runs (user_id, coalesce(ancestors[1], id), id)
  where holder is null and not parked and status in ('pending', 'running') and (sequence is null or status = 'running');
create index concurrently if not exists runs_next_of_sequence on runs (user_id, sequence, id)
  where holder is null and not parked and status = 'pending' and sequence is not null;
create index concurrently if not exists runs_started_of_sequence on runs (sequence)
  where sequence is not null and status = 'running';
