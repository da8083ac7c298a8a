-- Backends of models that list several. A circuit without a row is closed.
create table backend_circuits (
  model_id text not null,
  backend text not null,
  -- A status, or why no answer arrived.
  reason text not null,
  -- Failures in a row when it was opened.
  failures integer not null,
  -- How often it was opened since its last answer.
  opened integer not null default 1,
  opened_at timestamptz not null default now(),
  -- Then one node sends one call to the backend.
  open_until timestamptz not null,
  probe_node text,
  primary key (model_id, backend)
);

-- Calls that run at backends with a capacity. `running` is the number of rows in backend_calls.
create table backend_slots (
  model_id text not null,
  backend text not null,
  running integer not null default 0,
  -- A call waits for a slot, and must be notified.
  is_wanted boolean not null default false,
  primary key (model_id, backend)
);

create table backend_calls (
  id text primary key,
  model_id text not null,
  backend text not null,
  node_id text not null
);

-- Calls of five minutes each. Kept for a day.
create table backend_figures (
  model_id text not null,
  backend text not null,
  at timestamptz not null,
  calls integer not null,
  failures integer not null,
  -- Calls by the time to their first byte, in the steps of the server.
  latencies integer[] not null,
  primary key (model_id, backend, at)
);

-- Nodes of earlier versions cannot call models that list several backends, and do not claim their jobs.
alter table nodes add column lists_backends boolean not null default false;
