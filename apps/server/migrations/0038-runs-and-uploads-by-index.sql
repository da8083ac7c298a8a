-- no transaction
-- Runs of an agent are counted and chosen by status and caller without a look at their rows, which are long. In the place
-- of the index without the two, and at its cost: both change only where other indexes are written anyway.
create index concurrently if not exists runs_listed on runs (agent_id, created_at desc, id desc) include (status, user_id);
drop index concurrently if exists runs_of_agent;

-- Finds uploads whose time is over among the outputs, which have another.
create index concurrently if not exists files_uploaded on files (coalesce(stored_at, created_at))
  where origin <> 'output';
