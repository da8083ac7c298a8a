-- Money, in whole millionths of a dollar.
--
-- The ledger is a list of transfers. A transfer names both of its sides and one amount, so there is no way to write
-- half a movement, and the sum over all accounts is zero by construction. Accounts are names:
--   user:<user id>   a wallet
--   platform         what the platform earned
--   outside          where top-ups come from
-- Rows are never changed or removed, and a wallet's balance moves by a ledger row and by nothing else; triggers see to
-- both, also against ourselves.

create table ledger (
  id bigint generated always as identity primary key,
  recorded_at timestamptz not null default clock_timestamp(),
  kind text not null check (kind in ('credit', 'correction', 'charge', 'sale')),
  from_account text not null,
  to_account text not null,
  amount_micros bigint not null check (amount_micros > 0),
  -- The prediction or run that is paid; one movement of a kind each, for ever.
  reference text,
  reason text,
  check (from_account <> to_account),
  check (kind not in ('charge', 'sale') or reference is not null),
  check (kind not in ('credit', 'correction') or reason is not null)
);

create unique index ledger_settles_once on ledger (kind, reference) where reference is not null;
create index ledger_from on ledger (from_account, id);
create index ledger_to on ledger (to_account, id);

-- What a user has and what it has under way. Admission and settlement lock this row first of all.
create table wallets (
  user_id text primary key references users (id),
  balance_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  -- Predictions that count against the plan's parallel ones.
  running integer not null default 0 check (running >= 0),
  -- Requests of the last minute, as pairs of (milliseconds since 1970, how many).
  hits bigint[] not null default '{}'
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

insert into wallets (user_id) select id from users;

create function give_wallet() returns trigger language plpgsql as $$
begin
  insert into wallets (user_id) values (new.id);
  return null;
end $$;

create trigger users_have_wallets after insert on users for each row execute function give_wallet();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

create trigger ledger_is_append_only before update or delete on ledger
  for each row execute function refuse_change();
create trigger ledger_is_not_emptied before truncate on ledger
  for each statement execute function refuse_change();

create function apply_to_wallets() returns trigger language plpgsql as $$
begin
  update wallets w set balance_micros = w.balance_micros + moved.amount
  from (
    select account, sum(amount) as amount
    from (
      select to_account as account, amount_micros as amount from added
      union all
      select from_account, -amount_micros from added
    ) sides
    where account like 'user:%'
    group by account
  ) moved
  where w.user_id = substr(moved.account, 6);
  return null;
end $$;

create trigger ledger_moves_wallets after insert on ledger
  referencing new table as added for each statement execute function apply_to_wallets();

create function refuse_balance_by_hand() returns trigger language plpgsql as $$
begin
  -- Depth 1 is this trigger itself; a change that the ledger's trigger makes comes at depth 2.
  if pg_trigger_depth() < 2 then
    raise exception 'a balance changes by a ledger row only';
  end if;
  return new;
end $$;

create trigger wallets_follow_the_ledger before update of balance_micros on wallets
  for each row when (old.balance_micros is distinct from new.balance_micros)
  execute function refuse_balance_by_hand();

-- What a key with a monthly limit has spent and reserved in a month of UTC.
create table key_months (
  key_id text not null references api_keys (id),
  month date not null,
  spent_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  primary key (key_id, month)
) with (fillfactor = 50);

-- The price is frozen at acceptance, and so is the month that the key's limit counts it in.
alter table live_predictions
  add column reserved_micros bigint not null default 0,
  add column key_month date,
  -- Whether it counts among its user's parallel ones: with a client from acceptance on, queued ones once they run.
  add column counts_parallel boolean not null default false;

-- One row an ended prediction or sold run. `created_at` is the moment of settlement: usage, ledger and expenses agree
-- over any range of time, and a page for a past range does not change when a long run ends later.
create table usage (
  request_id text not null,
  user_id text not null,
  model_name text not null,
  route text not null,
  status integer not null,
  created_at timestamptz not null,
  inference_ms integer,
  input_tokens integer,
  output_tokens integer,
  cached_tokens integer,
  price_micros bigint not null
) partition by range (created_at);

create index usage_of_user on usage (user_id, created_at desc, request_id desc);

-- Everything that has no month of its own yet; the partitions are made ahead of time by the server.
create table usage_default partition of usage default;

-- The same, summed by hour, for totals and expenses over many rows.
create table usage_hours (
  user_id text not null,
  hour timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, hour, model_name)
) with (fillfactor = 50);
