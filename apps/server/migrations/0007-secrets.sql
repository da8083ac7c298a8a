-- Credentials that users store for their models' backends and tool servers: sealed with the server's secret key, never
-- read back through the API.
create table secrets (
  owner_id text not null references users (id),
  name text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (owner_id, name)
);
