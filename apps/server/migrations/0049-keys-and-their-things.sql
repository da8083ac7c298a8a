-- The key that brought an upload: a key limited to models sees only its own. Outputs are found by their prediction. Null
-- in rows of before this migration.
alter table files add column key_id text;

-- Of a session: a rotation has replaced the secret that it was opened with. Pairs that are no sessions are always in
-- grace.
alter table retired_key_pairs add column in_grace boolean not null default false;

-- What one key has used. Its sums by day and hour are not kept, so its rows are counted.
create index usage_of_key on usage (key_id, created_at desc, request_id desc) where key_id is not null;
