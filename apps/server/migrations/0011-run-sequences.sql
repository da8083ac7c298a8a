-- Runs that schedules and triggers create, and runs that wait for each other.

alter table runs
  add column source_id text,
  add column sequence text;

create index runs_of_sequence on runs (sequence, id) where sequence is not null and completed_at is null;
create index runs_of_source on runs (source_id, id desc) where source_id is not null;
