-- OAuth for /mcp: apps register themselves, and users connect them.

create table oauth_clients (
  id text primary key,
  -- The app chose it; not verified.
  name text not null,
  redirect_uris text[] not null,
  -- Null: a public client, which cannot keep a secret.
  secret_hash bytea,
  created_at timestamptz not null default now()
);

create index oauth_clients_age on oauth_clients (created_at);

-- A key that a user gave an app. Its own secret is unknown to everyone: the app gets access tokens in its place.
create table oauth_connections (
  key_id text primary key references api_keys (id),
  client_id text not null references oauth_clients (id),
  -- The public part of the code and of refresh tokens.
  public text not null unique,
  redirect_uri text not null,
  code_hash bytea not null,
  code_challenge text not null,
  code_expires_at timestamptz not null,
  -- Null until the app exchanges the code.
  connected_at timestamptz,
  -- The part that all refresh tokens of the connection share: a replaced one is recognised by it.
  family_hash bytea,
  refresh_hash bytea,
  refresh_expires_at timestamptz,
  -- The token before the current one. Until the time it gives the current one again, which the salt derives from it.
  replaced_hash bytea,
  replaced_salt bytea,
  replaced_until timestamptz,
  check ((connected_at is null) = (refresh_hash is null))
);

create index oauth_connections_of_client on oauth_connections (client_id);

create table oauth_access_tokens (
  public text primary key,
  key_id text not null references api_keys (id),
  secret_hash bytea not null,
  valid_until timestamptz not null
);

create index oauth_access_tokens_of_key on oauth_access_tokens (key_id, valid_until);
create index oauth_access_tokens_age on oauth_access_tokens (valid_until);
