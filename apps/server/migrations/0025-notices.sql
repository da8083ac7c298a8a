-- Notices of low balances and of budgets that are nearly spent.

-- When an account is notified. Without a row, the program's defaults.
create table notice_settings (
  user_id text primary key references users (id),
  -- Null: no notices about the balance.
  balance_below_micros bigint check (balance_below_micros >= 0),
  -- Null: no notices about budgets.
  budget_percent integer check (budget_percent between 1 and 100),
  webhook_destination text,
  webhook_target bytea,
  check ((webhook_destination is null) = (webhook_target is null))
);

create table notices (
  id text primary key,
  user_id text not null references users (id),
  kind text not null check (kind in ('balance_low', 'budget_low', 'budget_spent')),
  -- The key whose budget it is, such as the seat of a member. Null: the balance of the account.
  key_id text references api_keys (id),
  -- Of a budget, in UTC: `2026-11` or `2026-11-18`.
  period text,
  -- The balance below which the account is notified, or the budget.
  limit_micros bigint not null,
  -- The balance, or what was spent of the budget, when it was created.
  value_micros bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When the balance or budget was no longer low, or the period over.
  resolved_at timestamptz,
  check ((kind = 'balance_low') = (key_id is null)),
  check ((key_id is null) = (period is null))
);

-- One open notice about one thing, whichever node finds it.
create unique index notices_open on notices (user_id, kind, key_id, period) nulls not distinct where resolved_at is null;
create index notices_to_resolve on notices (id) where resolved_at is null;
create index notices_of_user on notices (user_id, id desc);
create index notices_resolved on notices (resolved_at) where resolved_at is not null;

-- A person's console no longer shows the notice.
create table notice_dismissals (
  notice_id text not null references notices (id) on delete cascade,
  user_id text not null references users (id),
  created_at timestamptz not null default clock_timestamp(),
  primary key (notice_id, user_id)
);

-- Where the search for low balances and budgets is, over all nodes.
create table notice_search (
  only_one boolean primary key default true check (only_one),
  stage text not null default 'balances' check (stage in ('balances', 'budgets', 'open')),
  after_id text not null default '',
  due_at timestamptz not null default '-infinity'
);

insert into notice_search default values;

-- Keys without a budget are not searched.
create index api_keys_with_budget on api_keys (id)
  where (monthly_limit_micros is not null or daily_limit_micros is not null) and revoked_at is null;
