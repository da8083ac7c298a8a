-- OAuth towards tool servers: each user authorizes a server with an account of their own.

alter table tool_servers
  drop constraint tool_servers_auth_type_check,
  drop constraint tool_servers_check,
  drop constraint tool_servers_status_check,
  add constraint tool_servers_auth_type_check check (auth_type in ('bearer', 'api_key', 'oauth')),
  -- Secrets of OAuth are in the tables below: a node of an earlier version must not send them as a token.
  add constraint tool_servers_check
    check ((auth_type is null or auth_type = 'oauth') = (sealed_credential is null)),
  add constraint tool_servers_status_check
    check (status in ('connected', 'unauthorized', 'unreachable', 'authorization_required'));

-- What the owner of a server gave. Without a client, Gantry registers itself.
create table tool_server_oauth (
  server_id text primary key references tool_servers (id) on delete cascade,
  client_id text,
  sealed_secret bytea,
  scope text,
  -- The authorization server that was found first. A given secret is not sent to another one.
  issuer text,
  check (client_id is not null or sealed_secret is null)
);

-- The endpoints and the client of a server, for one address that browsers return to.
create table tool_server_clients (
  server_id text not null references tool_servers (id) on delete cascade,
  redirect_uri text not null,
  sealed bytea not null,
  updated_at timestamptz not null default now(),
  primary key (server_id, redirect_uri)
);

-- Links that were not used yet. One for each server and user; the state is stored hashed.
create table tool_server_flows (
  server_id text not null references tool_servers (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  state_hash text not null unique,
  redirect_uri text not null,
  sealed bytea not null,
  expires_at timestamptz not null,
  primary key (server_id, user_id)
);

create index tool_server_flows_of_user on tool_server_flows (user_id);

-- The tokens of a user for a server.
create table tool_server_authorizations (
  server_id text not null references tool_servers (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  -- Null once the tokens stopped working: the user must authorize again.
  sealed_tokens bytea,
  -- Changes with every new grant of the user: sessions with the tool server belong to one grant.
  grant_id text not null,
  -- Changes with every change of the tokens.
  version text not null,
  refresh_at timestamptz,
  -- The node that refreshes the tokens, until the lease ends.
  refresh_claim text,
  refresh_lease_until timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (server_id, user_id)
);

create index tool_server_authorizations_of_user on tool_server_authorizations (user_id);
