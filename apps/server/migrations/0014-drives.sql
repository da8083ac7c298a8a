-- A drive is a named tree of files. Names are rows here, bytes are objects of the blob store under random keys: what a
-- path looks like never reaches the store.

create table drives (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  description text,
  created_at timestamptz not null
);

create index drives_of_owner on drives (owner_id, created_at desc, id desc);

-- Files, and the directories that they imply: a directory has a row as long as a file lies below it. Both kinds share
-- one key, so that no path can be a file and a directory. Compared byte by byte: everything below `/a` then lies between
-- `/a/` and `/a0`. Whoever changes the items of a drive holds the lock of the drive's row.
create table drive_items (
  drive_id text not null references drives (id) on delete cascade,
  path text collate "C" not null,
  parent text collate "C" not null,
  type text not null check (type in ('file', 'directory')),
  blob_key text unique,
  size bigint,
  content_type text,
  etag text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (drive_id, path),
  check (case type
    when 'file' then blob_key is not null and size is not null and content_type is not null and etag is not null
    else blob_key is null and size is null and content_type is null and etag is null
  end)
);

create index drive_items_of_directory on drive_items (drive_id, parent, path);

-- Objects of the blob store that no file refers to: still being written, replaced, or deleted. The row is there before
-- the bytes are and goes after them, so whatever dies in between leaves a row and never bytes that nobody knows of.
create table drive_loose_blobs (
  key text primary key,
  collect_after timestamptz not null,
  -- Being thrown away: no file may take it any more.
  is_doomed boolean not null default false
);

create index drive_loose_blobs_due on drive_loose_blobs (collect_after);
