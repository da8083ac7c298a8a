-- Runs of agents at times that cron expressions give.
create table schedules (
  id text primary key,
  user_id text not null references users (id),
  -- Runs use it.
  key_id text not null references api_keys (id),
  agent_id text not null references agents (id),
  -- As the user has seen it last: another user's agent may become private.
  agent_name text not null,
  name text,
  cron text not null,
  timezone text not null,
  input json not null,
  missed text not null check (missed in ('skip', 'once')),
  overlap text not null check (overlap in ('skip', 'queue')),
  enabled boolean not null,
  max_cost_micros bigint,
  approve text[] not null,
  connectors text[] not null,
  thread_id text,
  expected_price_micros bigint,
  -- Of the request that created or last changed the schedule; links in results of runs begin with it.
  base_url text not null,
  paused_reason text,
  -- Counts changes by users and due times that are over.
  revision integer not null default 1,
  -- The next due time. Null if the schedule is not active, or if the time is still to be found, as after a restore.
  next_at timestamptz,
  -- `next_at` and the due times after it, for readers.
  upcoming timestamptz[] not null default '{}',
  -- When a node looks at the schedule next: at `next_at`, after a lease, or after a refusal. Null if it is not active.
  look_at timestamptz,
  -- When `next_at` was found. After a clock that was far ahead has been corrected, it is far in the future.
  found_at timestamptz,
  -- Claims for `next_at`.
  tries integer not null default 0,
  -- Due times in a row that created no run because the run was refused.
  refusals integer not null default 0,
  last_due_at timestamptz,
  last_run_id text,
  last_skipped_at timestamptz,
  skipped_reason text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint schedules_active check ((look_at is not null) = (enabled and paused_reason is null))
);

create index schedules_of_user on schedules (user_id, id desc);
create index schedules_of_key on schedules (key_id);
create index schedules_due on schedules (look_at) where look_at is not null;
