-- What makes usage and expenses cheap to read however many rows there are.

-- The hourly sums again, summed by day of UTC. A day is written once, when nothing can be added to it any more
-- (usage_marks.days_before says how far that is done), so that settlement does not pay for it.
create table usage_days (
  user_id text not null,
  day timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, day, model_name)
);

-- One row: how far the upkeep of usage has come. Null is "not yet".
create table usage_marks (
  only_one boolean primary key default true check (only_one),
  -- Every day before this one is in usage_days. A midnight of UTC.
  days_before timestamptz,
  -- Rows of usage before this are gone, their sums are not. The first moment of a month of UTC.
  horizon timestamptz,
  -- All that predictions cost on the days before days_before; what was paid for others' agents is not among it.
  charged_micros bigint not null default 0
);

insert into usage_marks default values;

-- For what is read over all users: closing a day, the operator's overview. Rows come in the order of time, so that a few
-- kilobytes do, and a summarizing index does not keep updates from staying on their page.
create index usage_hours_by_time on usage_hours using brin (hour) with (pages_per_range = 16, autosummarize = on);
create index usage_days_by_time on usage_days using brin (day) with (pages_per_range = 16, autosummarize = on);
