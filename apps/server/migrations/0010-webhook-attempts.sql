-- Attempts to send a delivery, shown to its owner. Only the newest of a delivery are kept.
create table webhook_attempts (
  delivery_id text not null references webhook_deliveries (id) on delete cascade,
  number integer not null,
  at timestamptz not null default clock_timestamp(),
  -- Of the answer. Null if none arrived.
  status integer,
  error text,
  latency_ms integer,
  -- The first bytes of the answer.
  response_body text,
  primary key (delivery_id, number)
);
