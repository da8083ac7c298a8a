-- An agent is a name in the world (owner, slug, visibility) and a row of revisions, each a whole snapshot of everything
-- else. Agents are never removed: a deleted one keeps its rows, because runs refer to its revisions.

create table agents (
  id text primary key,
  owner_id text not null references users (id),
  -- Made from the first name; stays when the name changes. Free again once the agent is deleted.
  slug text not null,
  -- Acts at once, so it is no part of a revision.
  visibility text not null check (visibility in ('private', 'public')),
  latest_revision_id text not null,
  published_revision_id text,
  -- When the published revision became that.
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check ((published_revision_id is null) = (published_at is null))
);

create unique index agents_slug on agents (owner_id, slug) where deleted_at is null;
create index agents_of_owner on agents (owner_id, created_at desc, id desc) where deleted_at is null;
create index agents_on_the_market on agents (published_at desc, id desc)
  where visibility = 'public' and published_revision_id is not null and deleted_at is null;

create table agent_revisions (
  id text primary key,
  agent_id text not null references agents (id),
  -- Counts from 1 within the agent: what "the revision before" means, whatever the clocks of several nodes say.
  number integer not null check (number > 0),
  status text not null check (status in ('draft', 'published', 'superseded')),
  -- json, not jsonb: the order of a schema's fields is the order in which people fill them in.
  snapshot json not null,
  warnings json not null,
  created_at timestamptz not null,
  unique (agent_id, number),
  unique (agent_id, id)
);

create unique index agent_revisions_published on agent_revisions (agent_id) where status = 'published';

-- An agent and its first revision are written together, each referring to the other.
alter table agents
  add foreign key (id, latest_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred,
  add foreign key (id, published_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred;
