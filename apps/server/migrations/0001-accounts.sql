-- Users, their plans and their API keys. Wallets come with the ledger, in a migration of their own.

-- A null limit is no limit.
create table plans (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  parallel integer check (parallel > 0)
);

insert into plans (name, requests_per_minute, parallel) values
  ('free', 60, 4),
  ('pro', 600, 32),
  ('unlimited', null, null);

-- What the service remembers about itself between starts.
create table settings (
  name text primary key,
  value jsonb not null
);

-- Role `system` owns the built-in models: such a user has no keys and no password and is no part of user management.
create table users (
  id text primary key,
  username text not null unique,
  role text not null check (role in ('admin', 'user', 'system')),
  plan text not null references plans (name),
  password_hash text,
  created_at timestamptz not null,
  disabled_at timestamptz,
  check (role <> 'system' or password_hash is null)
);

-- Changing a user counts the admins that are left.
create index users_active_admins on users (id) where role = 'admin' and disabled_at is null;

-- `public` and `secret_hash` are the current pair of a key. The hash is one SHA-256 of the whole key: a key carries 200
-- bits of randomness, so there is no dictionary to slow down, and a slow hash would cost every request milliseconds.
create table api_keys (
  id text primary key,
  user_id text not null references users (id),
  public text not null unique check (length(public) = 12),
  secret_hash bytea not null check (length(secret_hash) = 32),
  name text not null,
  expires_at timestamptz,
  models text[],
  monthly_limit_micros bigint check (monthly_limit_micros >= 0),
  created_at timestamptz not null,
  -- Right to the minute, written off the path of requests.
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index api_keys_of_user on api_keys (user_id, id desc) where revoked_at is null;

-- The pairs that a rotated key had before. Each works until its time is over, so that clients can change over one by
-- one; a key that is rotated twice within its grace has two rows.
create table retired_key_pairs (
  public text primary key check (length(public) = 12),
  key_id text not null references api_keys (id) on delete cascade,
  secret_hash bytea not null check (length(secret_hash) = 32),
  valid_until timestamptz not null
);

create index retired_key_pairs_of_key on retired_key_pairs (key_id);
