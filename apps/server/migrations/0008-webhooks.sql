-- Deliveries of webhooks. A row is written in the transaction that ends its prediction, so that none is lost and none
-- is made twice; from then on it belongs to the senders.
--
--   pending ──claim──► pending, claimed_by set ──► delivered (2xx) | gone (410) | failed (given up)
--      ▲                        ├─ a failure: due_at = the next retry ──┐
--      │                        └─ the sender died: due_at = the end of its lease
--      └────────────────────────────────────────────────────────────────┘         resend: any status ──► pending, now

-- No foreign keys: users are never deleted, and each key would lock a row of theirs at every insert.
create table webhook_deliveries (
  -- Sent as `webhook-id`.
  id text primary key,
  user_id text not null,
  prediction_id text not null unique,
  model_name text not null,
  -- The origin of the address: what back-pressure is counted by.
  destination text not null,
  -- Address, headers and query parameters, sealed: they carry the receiver's credentials.
  target bytea not null,
  -- Text, so that every attempt sends the same bytes and the fields keep their order.
  payload text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'gone')),
  attempts integer not null default 0,
  -- Failures since it was made or sent again by hand: the step of the schedule.
  failures integer not null default 0,
  -- When it may be claimed. While it is claimed: when the claim lapses, so that a dead sender's work is due by itself.
  due_at timestamptz default clock_timestamp(),
  claimed_by text,
  -- Counts the claims; only who has the present number may write down a result.
  claim integer not null default 0,
  -- Asked for while an attempt was under way.
  resend boolean not null default false,
  last_status integer,
  last_error text,
  latency_ms integer,
  created_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  check ((status = 'pending') = (due_at is not null))
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

create index webhook_deliveries_of_user on webhook_deliveries (user_id, id desc);
-- A lane is what one user sends to one destination.
create index webhook_deliveries_lanes on webhook_deliveries (destination, user_id, due_at) where status = 'pending';
create index webhook_deliveries_due on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

-- The secrets that sign a user's deliveries. The one without an end is the newest; those before it sign on for a day.
create table webhook_secrets (
  user_id text not null,
  number integer not null,
  sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (user_id, number)
);
