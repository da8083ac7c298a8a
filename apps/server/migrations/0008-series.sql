-- Figures for charts beside the sums of usage. Null is unknown: the sum is from before this migration, and upkeep has not
-- completed it from its rows yet, or the rows are gone.
alter table usage_hours
  add column errors integer,
  add column input_tokens bigint,
  add column output_tokens bigint,
  add column cached_tokens bigint,
  -- Successful predictions by their time without the queue, from the first step to the highest one that occurs.
  add column latencies integer[];

alter table usage_days
  add column errors integer,
  add column input_tokens bigint,
  add column output_tokens bigint,
  add column cached_tokens bigint,
  add column latencies integer[];

-- Hours from here on have the figures, if their rows were still there.
alter table usage_marks add column detailed_from timestamptz not null default 'infinity';

-- The load of the service, once a minute. Kept for 30 days.
create table service_samples (
  at timestamptz primary key,
  waiting integer not null,
  running integer not null,
  nodes integer not null
);
