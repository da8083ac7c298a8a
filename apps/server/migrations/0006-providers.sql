-- Servers whose models can be imported. Those of the operator belong to the system user gantry.
create table providers (
  owner_id text not null references users (id),
  name text not null,
  type text not null,
  -- saved: by its owner. found: at start, on the server's own machine.
  source text not null default 'saved' check (source in ('saved', 'found')),
  -- Null is the default of the type.
  url text,
  -- The name of a stored secret of the owner.
  secret text,
  headers jsonb not null default '{}',
  query jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (owner_id, name)
);

-- Where a model was imported from. Not a reference: the model stays if the provider is deleted.
alter table models add column provider text;
-- Its name there.
alter table models add column upstream_id text;
-- The manifest of the last import. Fields in which `manifest` differs were edited and stay as they are.
alter table models add column imported json;

create index models_imported on models (owner_id, provider, upstream_id) where retired_at is null and provider is not null;
