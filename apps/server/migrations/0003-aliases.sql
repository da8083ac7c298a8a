-- Names for models and agents. Without an owner, a name is for all users.
create table model_aliases (
  owner_id text references users (id),
  name text not null,
  -- An endpoint id or agents/creator/slug. Not a reference: an alias may outlive its target.
  model text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint model_aliases_key unique nulls not distinct (owner_id, name)
);
