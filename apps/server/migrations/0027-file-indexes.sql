-- no transaction
-- The files of the OpenAI protocol are few among those of an owner.
create index concurrently if not exists files_of_batch on files (batch_id) where batch_id is not null;
create index concurrently if not exists files_of_purpose on files (owner_id, id) where purpose is not null;
