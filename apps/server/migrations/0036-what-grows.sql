-- What users bring and make grows without end: what lists it, counts it and lets go of it is found here by indexes.

-- Uploads. What a user's uploads take up is counted as they come and go, so that a bound on it costs one row to look at,
-- whichever server writes. Rows come without a size; outputs of predictions are not counted.
create table upload_totals (
  user_id text primary key,
  bytes bigint not null
);

create function count_upload() returns trigger language plpgsql as $$
declare
  more bigint := -coalesce(old.size, 0);
begin
  if tg_op = 'UPDATE' then more := more + coalesce(new.size, 0); end if;
  insert into upload_totals as t (user_id, bytes) values (old.owner_id, more)
    on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  return null;
end $$;

create trigger files_count_change after update of size on files
  for each row when (new.origin <> 'output' and new.size is distinct from old.size) execute function count_upload();
create trigger files_count_end after delete on files
  for each row when (old.origin <> 'output' and old.size is not null) execute function count_upload();

insert into upload_totals (user_id, bytes)
  select owner_id, sum(size) from files where origin <> 'output' and size is not null group by owner_id;

-- Objects whose file was deleted. The row comes with the end of the file's own and goes after the bytes, so whatever dies
-- in between leaves no bytes that nobody knows of. An upload link that still lives can bring bytes once more: its row
-- stays until it does not.
create table deleted_files (
  key text primary key,
  collect_after timestamptz not null
);

create index deleted_files_due on deleted_files (collect_after);

-- Few users are, and lists leave out what is theirs.
create index users_disabled on users (id) where disabled_at is not null;

-- What models and the marketplace are listed and searched by. Here the columns begin to be written, by whichever server
-- writes a row; 0039 fills them for the rows that are there, in a transaction of its own that stops no reader.
-- Usernames never change. What is searched of an agent is the name of its published revision, not of a draft.
create function note_model_names() returns trigger language plpgsql as $$
begin
  new.owner := (select username from users where id = new.owner_id);
  new.search_text := lower(new.owner || '/' || new.name || ' ' || (new.manifest ->> 'title'));
  return new;
end $$;

create function note_agent_names() returns trigger language plpgsql as $$
begin
  new.search_text := (
    select lower(u.username || '/' || new.slug || ' ' || (r.snapshot ->> 'name'))
    from users u, agent_revisions r where u.id = new.owner_id and r.id = new.published_revision_id);
  return new;
end $$;

alter table models add column owner text, add column search_text text;
alter table agents add column search_text text;

create trigger models_note_names before insert or update of manifest on models
  for each row execute function note_model_names();
create trigger agents_note_names before insert or update of published_revision_id on agents
  for each row execute function note_agent_names();
