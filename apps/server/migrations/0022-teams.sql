-- Teams: owners of models, agents, money and keys whose members act for them.

-- A team is an owner like a person, so everything that has an owner works for it. It never signs in.
alter table users
  add column kind text not null default 'person' check (kind in ('person', 'team')),
  add constraint users_teams_never_sign_in check (kind = 'person' or role = 'user' and password_hash is null);

create table team_members (
  team_id text not null references users (id),
  user_id text not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  -- The key that counts what the member does for the team, and has its budget. Its secret is not kept anywhere.
  seat_key_id text not null unique references api_keys (id),
  created_at timestamptz not null default now(),
  primary key (team_id, user_id)
);

create index team_members_of_user on team_members (user_id);

-- The member who created the key of a team. Its parent is the member's seat, which itself has no parent.
alter table api_keys add column member_id text references users (id);

create index api_keys_of_member on api_keys (user_id, member_id) where member_id is not null;
