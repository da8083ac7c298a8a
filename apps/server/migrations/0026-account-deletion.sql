-- Accounts that are being deleted, and the names of those that were.

create table account_deletions (
  user_id text primary key references users (id),
  requested_at timestamptz not null default now(),
  -- Everything was deleted, and the account has no name any more.
  finished_at timestamptz,
  -- When a node works on it next; null: never again.
  due_at timestamptz default now(),
  -- Only the node with the current claim works on it. After the lease, another node claims it.
  claim integer not null default 0,
  leased_until timestamptz
);

create index account_deletions_due on account_deletions (due_at) where due_at is not null;

-- SHA-256 of the usernames of deleted accounts: their addresses must not lead to another account.
create table reserved_usernames (
  hash bytea primary key check (length(hash) = 32)
);

-- insertUser looks first. This refuses names that are deleted in the same moment, and those of nodes that do not look.
create function refuse_reserved_username() returns trigger language plpgsql as $$
begin
  if exists (select from reserved_usernames where hash = sha256(convert_to(new.username, 'UTF8'))) then
    raise unique_violation using message = 'the username belonged to a deleted account';
  end if;
  return null;
end $$;

create trigger users_keep_reserved_names after insert on users for each row execute function refuse_reserved_username();
