-- Addresses to which other services post to start runs, and webhooks of runs.

create table triggers (
  id text primary key,
  -- The user who created it: its runs are this user's runs.
  owner_id text not null references users (id),
  agent_id text not null references agents (id),
  -- The key that created or last changed it: its runs have the limits of this key.
  key_id text not null,
  -- Of the secret in the address.
  secret_hash bytea not null,
  name text,
  -- Templates by field; null: the body of a delivery is the input.
  input json,
  -- How to verify a signature, without the secret.
  verification json,
  verification_secret bytea,
  -- {header} or {path}.
  delivery_id json,
  enabled boolean not null,
  overlap text not null check (overlap in ('parallel', 'queue')),
  max_cost double precision,
  approve text[] not null,
  connectors text[] not null,
  thread_id text,
  expected_price double precision,
  -- Why Gantry stopped it.
  paused_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((verification is null) = (verification_secret is null))
);

create index triggers_of_owner on triggers (owner_id, id desc);
create index triggers_of_agent on triggers (agent_id, owner_id);
create index triggers_of_key on triggers (key_id);

-- What triggers received. A row with a delivery id and a run also prevents a second run for that id.
create table trigger_deliveries (
  id text primary key,
  trigger_id text not null references triggers (id) on delete cascade,
  delivery_id text,
  status text not null check (status in ('accepted', 'duplicate', 'refused')),
  reason text,
  run_id text,
  created_at timestamptz not null default now()
);

create unique index trigger_deliveries_accepted on trigger_deliveries (trigger_id, delivery_id) where status = 'accepted';
create index trigger_deliveries_of_trigger on trigger_deliveries (trigger_id, id desc);
create index trigger_deliveries_age on trigger_deliveries using brin (created_at);

-- Where the events of a run are sent. Written with the run.
create table run_webhooks (
  run_id text primary key references runs (id) on delete cascade deferrable initially deferred,
  user_id text not null,
  destination text not null,
  -- Address, headers and query parameters, sealed.
  target bytea not null,
  events text[] not null
);

-- Events that are not delivered yet. Written in the transaction of the event; a sender turns each into one delivery.
create table run_webhook_events (
  run_id text not null references runs (id) on delete cascade deferrable initially deferred,
  event text not null check (event in ('done', 'error', 'confirmation_required')),
  -- Empty if the event is not about a confirmation.
  confirmation_id text not null default '',
  created_at timestamptz not null default clock_timestamp(),
  -- Later than now after a failure.
  due_at timestamptz not null default clock_timestamp(),
  primary key (run_id, event, confirmation_id)
);

create index run_webhook_events_due on run_webhook_events (due_at);

-- For a run, `prediction_id` has a text of its own for each event: earlier versions know only that column.
alter table webhook_deliveries
  add column run_id text,
  add column event text;
