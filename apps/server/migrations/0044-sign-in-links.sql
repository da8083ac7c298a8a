-- Links that sign a person in to the console, each once. Only the SHA-256 of what stands in a link is kept.
create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id text not null references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index sign_in_links_expiry on sign_in_links (expires_at);

-- A key that such a link made: the session of a person, which ends when that person signs out. Servers of the version
-- before make none.
alter table api_keys add column from_sign_in boolean not null default false;

create index api_keys_from_sign_in on api_keys (expires_at) where from_sign_in and revoked_at is null;
