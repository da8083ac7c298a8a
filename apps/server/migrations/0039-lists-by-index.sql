-- Lists that choose their page by an index which holds all that it is chosen by, and read the rest of that page's rows only.

-- The columns of 0036, for the rows that were there before it.
update models m set owner = u.username, search_text = lower(u.username || '/' || m.name || ' ' || (m.manifest ->> 'title'))
  from users u where u.id = m.owner_id and m.owner is null;
update agents a set search_text = lower(u.username || '/' || a.slug || ' ' || (r.snapshot ->> 'name'))
  from users u, agent_revisions r
  where u.id = a.owner_id and r.id = a.published_revision_id and a.search_text is null;

create index models_listed on models (owner, name) include (id, owner_id, visibility, kind, search_text)
  where retired_at is null;

create index agents_listed on agents (published_at desc, id desc) include (owner_id, search_text)
  where visibility = 'public' and published_revision_id is not null and deleted_at is null;
drop index agents_on_the_market;
