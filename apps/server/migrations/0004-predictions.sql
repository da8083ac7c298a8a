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
  -- The node that executes it or holds its connection; null while a queued one waits for a worker.
  holder text,
  -- Counts the executions; only who has the present number may end the prediction.
  claim integer not null default 1,
  -- How often a worker died with it.
  deaths integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- Null while it waits for capacity.
  started_at timestamptz,
  -- Until when it may wait.
  queue_until timestamptz not null,
  -- What a worker needs to run a queued one: the checked input with its files as blob keys, the prices of the moment of
  -- acceptance, the address that links carry, and where the webhook goes (sealed).
  input json,
  pricing json,
  base_url text,
  webhook_destination text,
  webhook_target bytea
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

-- The line of a model, user by user: nobody waits behind another's crowd.
create index live_predictions_line on live_predictions (model_id, user_id, high_priority desc, created_at)
  where started_at is null;
create index live_predictions_running on live_predictions (model_id, user_id) where started_at is not null;
create index live_predictions_queued on live_predictions (user_id) where started_at is null and holder is null;
create index live_predictions_queue_until on live_predictions (queue_until) where started_at is null;
create index live_predictions_holder on live_predictions (holder);

-- When a user's turn at a model was last, so that turns go round among those who wait.
create table last_turns (
  model_id text not null,
  user_id text not null,
  at timestamptz not null,
  primary key (model_id, user_id)
) with (fillfactor = 50);

-- What came in and went out in the last seconds, for the figures of a queue.
create table model_flow (
  model_id text not null,
  second bigint not null,
  accepted integer not null default 0,
  ended integer not null default 0,
  primary key (model_id, second)
) with (fillfactor = 50);

-- What a queued run of a streaming model has said so far, in pieces of a quarter of a second; gone when it has ended.
create table prediction_fragments (
  prediction_id text not null,
  claim integer not null,
  seq integer not null,
  field text not null,
  fragment text not null,
  primary key (prediction_id, claim, seq)
);

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
  cached_tokens integer,
  -- The rest of what is told about a streamed run.
  stream_details json
);

-- Answers of requests with an Idempotency-Key, for a day.
create table idempotency_keys (
  user_id text not null,
  scope text not null,
  key text not null,
  fingerprint text not null,
  prediction_id text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, scope, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);
