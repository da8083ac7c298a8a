-- The MCP servers whose tools a user's agents may call. The credential is sealed with the server's secret key and never
-- read back through the API.
create table tool_servers (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  url text not null,
  connection_type text not null check (connection_type in ('streamable_http', 'sse')),
  auth_type text check (auth_type in ('bearer', 'api_key')),
  -- The header of an API key.
  auth_header text,
  sealed_credential bytea,
  status text not null check (status in ('connected', 'unauthorized', 'unreachable')),
  last_error text,
  -- Counts the changes: an open connection belongs to one revision.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (owner_id, name),
  check ((auth_type is null) = (sealed_credential is null)),
  check ((auth_type is not distinct from 'api_key') = (auth_header is not null))
);

create index tool_servers_of_owner on tool_servers (owner_id, created_at desc, id desc);
