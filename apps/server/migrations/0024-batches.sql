-- Batches of the OpenAI protocol: the lines of an uploaded file become queued predictions.
create table batches (
  id text primary key,
  user_id text not null references users (id),
  -- Its predictions use it.
  key_id text not null references api_keys (id),
  endpoint text not null,
  input_file_id text not null,
  metadata json,
  -- Of the request that created the batch; links in results begin with it.
  base_url text not null,
  -- False: inputs of its predictions are not kept with their results.
  keep_inputs boolean not null default true,
  --   validating ──► in_progress ──► finalizing ──► completed | expired
  --        └─► failed     └──► cancelling ──┴──────► cancelled
  status text not null default 'validating' check (status in ('validating', 'failed', 'in_progress', 'finalizing',
    'completed', 'expired', 'cancelling', 'cancelled')),
  -- Why lines of the file do not run any more: the code of their error.
  stop_code text,
  errors json,
  total integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  -- Where the lines begin that have no row yet.
  next_line integer not null default 1,
  next_byte bigint not null default 0,
  output_file_id text,
  error_file_id text,
  created_at timestamptz not null default clock_timestamp(),
  in_progress_at timestamptz,
  expires_at timestamptz not null,
  finalizing_at timestamptz,
  cancelling_at timestamptz,
  -- When it became completed, failed, expired or cancelled.
  ended_at timestamptz,
  -- Only the node with the current claim changes the batch. After the lease, another node claims it.
  claim integer not null default 0,
  leased_until timestamptz,
  -- When a node last began to work on it.
  worked_at timestamptz
);

create index batches_of_user on batches (user_id, id desc);
create index batches_of_key on batches (key_id);
create index batches_under_way on batches (user_id) where ended_at is null;

-- A line that was read for execution. The row is written before its prediction, so that a node that takes over continues
-- with the same prediction.
create table batch_lines (
  batch_id text not null references batches (id) on delete cascade,
  line integer not null,
  custom_id text not null,
  prediction_id text not null,
  -- Where the line is in the input file.
  start_byte bigint not null,
  bytes integer not null,
  -- Fields of the request that its answer needs.
  asked json,
  -- Of the ended prediction, or of a refused request. 0: it never ran. 410: its result was deleted before it was counted.
  status smallint,
  -- Of a request that was refused, as the protocol writes it.
  refusal json,
  primary key (batch_id, line)
);

create index batch_lines_of_prediction on batch_lines (prediction_id);
create index batch_lines_open on batch_lines (batch_id) where status is null;

-- Why the file is stored, for files of the OpenAI protocol: `batch` or `batch_output`. Null: any other file.
alter table files add column purpose text;
-- The batch that created it.
alter table files add column batch_id text;
-- Nodes of earlier versions cannot run queued embeddings, and do not claim lines of batches.
alter table nodes add column runs_batches boolean not null default false;
