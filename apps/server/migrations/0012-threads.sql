-- Threads: conversations with agents. The runs of a thread have its id in `runs.thread_id` and share a sequence.

create table threads (
  -- The caller of its runs.
  user_id text not null,
  -- Chosen by the client.
  id text not null,
  -- Of its first run. A confined key uses only threads that it created.
  key_id text not null,
  agent_id text not null,
  title text not null,
  runs integer not null default 0,
  -- Locked and changed by each new run, so the ids of its runs are in the order of their creation.
  last_run_id text not null default '',
  -- Its runs are being deleted.
  deleting boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  -- When the last run was created.
  updated_at timestamptz not null default clock_timestamp(),
  primary key (user_id, id)
);
create index threads_listed on threads (user_id, updated_at desc, id);
create index threads_by_age on threads (updated_at);
create index threads_deleting on threads (user_id, id) where deleting;

-- The step of the run that summarizes earlier turns of its thread.
alter table runs add column turns_summary integer;

-- Nodes of earlier versions would run a turn without the earlier ones, and do not claim it.
alter table nodes add column runs_threads boolean not null default false;
