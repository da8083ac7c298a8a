-- Sign-in with passwords and OpenID Connect, and a list of sessions.

-- Of sessions. Null for those that a version before opened.
alter table retired_key_pairs
  add column created_at timestamptz,
  -- Exact to the minute, written outside the path of requests.
  add column last_used_at timestamptz,
  add column sign_in_way text check (sign_in_way in ('link', 'key', 'password', 'oidc')),
  add column address text,
  add column user_agent text;

-- The sign-in page shows the form for passwords once a user has one.
create index users_with_password on users (id) where password_hash is not null;

-- Links with which a user sets a new password, each once and one per user. Only the SHA-256 of the token is stored.
create table password_resets (
  user_id text primary key references users (id),
  token_hash bytea not null unique check (length(token_hash) = 32),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index password_resets_expiry on password_resets (expires_at);

-- Who a user is at an OpenID provider. A subject never changes its user, and a user has one subject per provider.
create table oidc_identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id),
  created_at timestamptz not null,
  primary key (issuer, subject)
);

create unique index oidc_identities_of_user on oidc_identities (user_id, issuer);

-- Limits of failed sign-ins, for all nodes together. Names share a fixed number of buckets, so the table cannot be filled.
create table sign_in_attempts (
  bucket integer primary key,
  -- All attempts are available again at that time.
  full_at timestamptz not null
);

create index sign_in_attempts_full on sign_in_attempts (full_at);

-- Keeps outsiders from choosing a name or an address that shares a bucket with another one.
insert into settings (name, value) values ('sign_in_seed', to_jsonb(floor(random() * 9e15)::bigint));
