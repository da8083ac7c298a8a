-- Indexes of drives: the text of the files in chunks, which search reads.

create table drive_indexes (
  drive_id text primary key references drives (id) on delete cascade,
  owner_id text not null references users (id),
  -- The key whose calls embed the chunks: the last one that set up the index.
  key_id text not null,
  -- An endpoint id or an alias; null: search by words only.
  embedding_model text,
  -- The model behind that name when the first vector of this generation was made. Queries use the same one.
  endpoint_id text,
  -- Length of the vectors; null until the first one of this generation.
  dimensions integer,
  -- Grows when the model behind the name changes. Vectors of different generations cannot be compared.
  generation integer not null default 1,
  -- Grows with each change of the chunks.
  version bigint not null default 0,
  -- The sum of the files' chunks.
  chunks integer not null default 0,
  paused_reason text,
  -- When a paused index tries again; null: only after a change by the owner.
  retry_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index drive_indexes_of_owner on drive_indexes (owner_id);

-- The files of indexed drives. Written in the transaction that changes the file.
create table drive_index_files (
  drive_id text not null references drive_indexes (drive_id) on delete cascade,
  path text collate "C" not null,
  -- The version of the file to index.
  blob_key text not null,
  status text not null default 'pending' check (status in ('pending', 'indexed', 'failed', 'skipped')),
  reason text,
  chunks integer not null default 0,
  -- The node that works on it.
  claimed_by text,
  -- Counts the claims. Only the current claim may write.
  claim integer not null default 0,
  attempts integer not null default 0,
  due_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (drive_id, path)
);

create index drive_index_files_due on drive_index_files (drive_id, due_at) where status = 'pending' and claimed_by is null;
create index drive_index_files_claimed on drive_index_files (claimed_by) where claimed_by is not null;
create index drive_index_files_of_status on drive_index_files (drive_id, status, path);

create table drive_chunks (
  id bigint generated always as identity primary key,
  drive_id text not null,
  path text collate "C" not null,
  -- The position in the file, from 0.
  n integer not null,
  page integer,
  line_from integer,
  line_to integer,
  heading text,
  text text not null,
  search tsvector not null generated always as (
    setweight(to_tsvector('english', coalesce(heading, '')), 'A')
    || setweight(to_tsvector('english', text) || to_tsvector('simple', text), 'B')
    || setweight(to_tsvector('simple', translate(path, '/._-', '    ')), 'C')
    -- Many drives share the index: a search asks for the drive and the words together.
    || array_to_tsvector(array[drive_id])
  ) stored,
  -- float32, little endian, of length 1.
  embedding bytea,
  generation integer not null,
  foreign key (drive_id, path) references drive_index_files (drive_id, path) on delete cascade
);

create index drive_chunks_search on drive_chunks using gin (search);
create unique index drive_chunks_of_file on drive_chunks (drive_id, path, n);
create index drive_chunks_of_drive on drive_chunks (drive_id, id);

-- Paid vectors of a file whose chunks are not complete yet, so that a crash does not pay for them twice.
create table drive_index_vectors (
  drive_id text not null,
  path text collate "C" not null,
  -- SHA-256 of the text.
  hash bytea not null,
  embedding bytea not null,
  generation integer not null,
  primary key (drive_id, path, hash),
  foreign key (drive_id, path) references drive_index_files (drive_id, path) on delete cascade
);
