-- The identity tenant that a user's agents manage: its domain, and the management token, sealed with the server's secret
-- key and never read back. What the token says about itself is kept beside it, so that it can be shown.
create table idp_connectors (
  user_id text primary key references users (id),
  domain text not null,
  sealed_token bytea not null,
  token_last4 text not null,
  scopes text[],
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
