-- The fields of a request that its response repeats count towards the storage quota. They do not count towards the size of
-- the conversation: each turn has its own, and only the last is used. Rows from before count 0, as they did.

alter table responses add column request_bytes integer not null default 0;
