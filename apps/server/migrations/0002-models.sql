-- A model is a row from its first PUT until it is retired; the row stays afterwards, because predictions refer to its
-- id. A retired name may be taken again: that is another row with another id.

create sequence model_ids;

create table models (
  id text primary key default 'mdl_' || nextval('model_ids'),
  -- The endpoint id is the owner's username, a slash and the name; usernames never change.
  owner_id text not null references users (id),
  name text not null,
  -- json, not jsonb: the order of a model's fields is the order in which people fill them in, and jsonb would sort it.
  manifest json not null,
  -- Counts the changes, from 1.
  version integer not null default 1,
  -- The shipped manifest that a built-in model was last brought up to; null for a model that somebody PUT. A field
  -- in which `manifest` differs from it was patched by the operator and stays as it is.
  seeded json,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  retired_at timestamptz,
  -- What SQL decides by, taken from the manifest so that the two can never disagree.
  kind text not null generated always as (manifest ->> 'kind') stored,
  visibility text not null generated always as (manifest ->> 'visibility') stored,
  capacity integer not null generated always as ((manifest ->> 'capacity')::integer) stored,
  check (visibility in ('public', 'private')),
  check (capacity >= 0)
);

create unique index models_endpoint on models (owner_id, name) where retired_at is null;
