-- Whoever writes a row writes what follows from it in the same statement. Triggers stay only where they refuse a change.

drop trigger files_count_change on files;
drop trigger files_count_end on files;
drop trigger files_link_begin on files;
drop trigger files_link_end on files;
drop trigger drive_items_count_new on drive_items;
drop trigger drive_items_count_change on drive_items;
drop trigger drive_items_count_end on drive_items;
drop trigger drives_count_end on drives;
drop trigger models_note_names on models;
drop trigger agents_note_names on agents;
drop trigger users_have_wallets on users;
drop function count_upload(), count_drive_items(), count_deleted_drive(), note_open_link(), note_model_names(),
  note_agent_names(), give_wallet();

-- Like the other columns that are taken from the manifest. The owner's name is written with the row.
alter table models drop column search_text;
alter table models add column search_text text
  generated always as (lower(owner || '/' || name || ' ' || (manifest ->> 'title'))) stored;
create index models_listed on models (owner, name) include (id, owner_id, visibility, kind, search_text)
  where retired_at is null;
