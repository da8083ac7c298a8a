-- Runs that schedules and triggers create, and runs that wait for each other.

alter table runs
  add column source_id text,
  add column sequence text;
