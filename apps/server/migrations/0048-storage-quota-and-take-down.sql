-- Storage quota. `upload_totals` counts what a user stores in uploads and drives, in the transaction that changes it, so
-- that one row decides for all servers. Outputs of predictions are not counted.
comment on table upload_totals is 'Bytes that each user stores in uploads and drives; outputs of predictions are not counted.';

-- Null: the setting GANTRY_UPLOAD_BYTES_PER_USER. 0: no quota.
alter table plans add column storage_bytes bigint check (storage_bytes >= 0);

-- Waits for writers that began earlier, in the order in which they lock, so that each file is counted exactly once.
lock table drives, drive_items in share row exclusive mode;

-- The items of a drive that is deleted go after its row, when its owner is no longer known: the drive counts them itself.
create function count_drive_items() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, sum(i.size) from added i join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  elsif tg_op = 'UPDATE' then
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, sum(i.size)
      from (select drive_id, size from added union all select drive_id, -size from removed) i
      join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  else
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, -sum(i.size) from removed i join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  end if;
  return null;
end $$;

create function count_deleted_drive() returns trigger language plpgsql as $$
begin
  insert into upload_totals as t (user_id, bytes)
    select old.owner_id, -sum(size) from drive_items where drive_id = old.id having sum(size) is not null
    on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  return old;
end $$;

create trigger drive_items_count_new after insert on drive_items
  referencing new table as added for each statement execute function count_drive_items();
create trigger drive_items_count_change after update on drive_items
  referencing old table as removed new table as added for each statement execute function count_drive_items();
create trigger drive_items_count_end after delete on drive_items
  referencing old table as removed for each statement execute function count_drive_items();
create trigger drives_count_end before delete on drives
  for each row execute function count_deleted_drive();

insert into upload_totals as t (user_id, bytes)
  select d.owner_id, sum(i.size) from drive_items i join drives d on d.id = i.drive_id
  where i.size is not null group by d.owner_id
  on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;

-- Take-down: an admin takes an agent or a model away from everyone but its owner. {at, reason, visibility}, where
-- `visibility` is what it had and gets back when it is restored; meanwhile it is private. Null: not taken down.
alter table agents add column taken_down jsonb, add check (taken_down is null or visibility = 'private');
alter table models add column taken_down jsonb, add check (taken_down is null or visibility = 'private');
