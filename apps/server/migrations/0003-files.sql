-- Who may read what in the blob store. The row is there before the bytes are, so a crash leaves no object without one.
-- No foreign key to users: they are never deleted, and each insert would lock the row that admission locks.
create table files (
  -- The object's key in the blob store; `s3://<bucket>/<key>` is what clients see.
  key text primary key,
  id text not null unique,
  owner_id text not null,
  -- uploaded: sent to us; link: sent to the store by a signed link; output: made by a prediction.
  origin text not null check (origin in ('uploaded', 'link', 'output')),
  state text not null default 'awaiting' check (state in ('awaiting', 'stored')),
  -- While awaiting: what the caller declared, if anything. Once stored: what the file is.
  content_type text,
  size bigint,
  -- The version of the object that size and type were read from. A link can be used again as long as it lives.
  etag text,
  max_bytes bigint not null,
  prediction_id text,
  created_at timestamptz not null,
  stored_at timestamptz,
  check ((origin = 'output') = (prediction_id is not null)),
  check (state = 'awaiting'
    or (size is not null and content_type is not null and etag is not null and stored_at is not null))
);

create index files_awaiting on files (created_at) where state = 'awaiting';
create index files_of_prediction on files (prediction_id) where prediction_id is not null;
create index files_of_owner on files (owner_id, id desc);
