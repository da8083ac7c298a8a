-- Upload links that were not looked at since they ran out. An S3 server takes what they bring without telling us, also
-- after the file was used and counted: so each is looked at once more when nothing can come any more, and its row here goes.
-- Written with the file's own row, by whichever server writes that.
create table open_links (
  key text primary key,
  created_at timestamptz not null
);

create index open_links_since on open_links (created_at);

create function note_open_link() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from open_links where key = old.key;
  else
    insert into open_links (key, created_at) values (new.key, new.created_at);
  end if;
  return null;
end $$;

create trigger files_link_begin after insert on files
  for each row when (new.origin = 'link') execute function note_open_link();
create trigger files_link_end after delete on files
  for each row when (old.origin = 'link') execute function note_open_link();

insert into open_links (key, created_at) select key, created_at from files where origin = 'link';

-- Which file store a node works with, so that one with another is not let in beside it. Null: a node of the release before.
alter table nodes add column file_store text;
