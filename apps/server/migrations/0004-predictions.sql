-- A prediction is a row of live_predictions from acceptance to its end, and a row of ended_predictions afterwards.
-- Ending it is one statement: delete the live row, insert the ended one. Only one statement can delete a row, so a
-- prediction ends once, whoever tries; the ended table is written once and never changed.

-- One row a running process. A process that has not moved its heartbeat for ten seconds has lost what it holds.
create table nodes (
  id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

-- Who runs and who waits, per model, as counters on a row that admission and settlement lock: counting rows under a
-- lock would count in a snapshot older than the lock.
create table model_slots (
  model_id text primary key references models (id),
  running integer not null default 0 check (running >= 0),
  waiting integer not null default 0 check (waiting >= 0)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- No foreign keys here: users and models are never deleted, and each key would lock a row of theirs at every insert.
create table live_predictions (
  id text primary key,
  user_id text not null,
  key_id text not null,
  model_id text not null,
  model_name text not null,
  route text not null check (route in ('sync', 'stream', 'async', 'agent')),
  high_priority boolean not null default false,
  -- The node that executes it or holds its connection.
  holder text,
  -- Counts the executions; only who has the present number may end the prediction.
  claim integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  -- Null while it waits for capacity.
  started_at timestamptz
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

create index live_predictions_waiting on live_predictions (model_id, high_priority desc, created_at)
  where started_at is null;
create index live_predictions_holder on live_predictions (holder);

create table ended_predictions (
  id text primary key,
  user_id text not null,
  key_id text not null,
  model_id text not null,
  model_name text not null,
  route text not null,
  status integer not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz not null default clock_timestamp(),
  inference_ms integer,
  -- json, not jsonb: kept as it was written, and a NUL inside a text stays representable.
  output json,
  -- The issues of the fault it ended with, without links: those depend on the address that the reader uses.
  error json,
  input_tokens integer,
  output_tokens integer,
  cached_tokens integer
);
