-- Links that sign a person in to the console, each once. Only the SHA-256 of what stands in a link is kept.
create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id text not null references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index sign_in_links_expiry on sign_in_links (expires_at);

-- Being signed in is a further pair of a key, so that what is done counts as the key's and ends with it. It is presented
-- in a cookie alone. Servers of the version before make none, and do not take them for keys.
alter table retired_key_pairs add column of_session boolean not null default false;

-- Of a key that such a link made, which is the session of a person: presented, it works until then. What was begun with it
-- goes on, as runs may ask their user for days: that is why it is not the end of the key itself.
alter table api_keys add column session_ends_at timestamptz;

create index api_keys_of_sessions on api_keys (session_ends_at) where session_ends_at is not null and revoked_at is null;
