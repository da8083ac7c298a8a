-- Daily budgets, tokens a minute, and keys that also count towards the limits of a parent.

alter table api_keys
  -- The key counts towards the limits of its parent too, and works only while the parent does.
  add column parent_id text references api_keys (id),
  add column daily_limit_micros bigint check (daily_limit_micros >= 0),
  add column tokens_per_minute bigint check (tokens_per_minute > 0),
  -- Null: the limits are those of its creation, so they bind everything that it has spent.
  add column limits_changed_at timestamptz;

create index api_keys_of_parent on api_keys (parent_id) where parent_id is not null;

-- One level, of one user, fixed at creation: counters of a key and its parent are protected by the wallet of their user.
create function refuse_key_chains() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise exception 'the parent of key % cannot change', new.id;
  end if;
  if not exists (
    select from api_keys p where p.id = new.parent_id and p.parent_id is null and p.user_id = new.user_id
  ) then
    raise exception 'key % needs a parent of the same user that has no parent', new.id;
  end if;
  return new;
end $$;

create trigger api_keys_have_one_level before insert on api_keys
  for each row when (new.parent_id is not null) execute function refuse_key_chains();
create trigger api_keys_keep_their_parent before update on api_keys
  for each row when (new.parent_id is distinct from old.parent_id
    or new.user_id <> old.user_id) execute function refuse_key_chains();

-- What a key with a daily limit has spent and reserved in a day of UTC.
create table key_days (
  key_id text not null references api_keys (id),
  day date not null,
  spent_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  primary key (key_id, day)
) with (fillfactor = 50);

create index key_days_age on key_days (day);

-- The tokens of the last minute of a key with a limit, as pairs of (second since 1970, tokens), oldest first.
create table key_tokens (
  key_id text primary key references api_keys (id),
  window_tokens bigint[] not null default '{}'
) with (fillfactor = 50);

-- What acceptance counted, so that the end releases exactly this, even if limits have changed since. Null: not counted.
alter table live_predictions
  add column key_day date,
  add column key_second bigint,
  add column parent_key_id text,
  add column parent_month date,
  add column parent_day date,
  add column parent_second bigint,
  add column reserved_tokens bigint;

alter table runs
  add column key_day date,
  add column parent_key_id text,
  add column parent_month date,
  add column parent_day date;

-- While arrivals are decided: the limits of a key or parent, what it has used, and what is to be added to its rows.
create type key_limits as (
  id text, parent_id text, per_month bigint, per_day bigint, per_minute bigint, month_used bigint, day_used bigint,
  minute_used bigint, more bigint, more_tokens bigint
);

-- `prediction_arrival` with the tokens that it reserves, null if they were not counted, and whether the id was promised
-- before, so that the prediction may have been accepted already.
create type arriving_prediction as (
  id text, user_id text, key_id text, model_id text, model_name text, route text, high_priority boolean,
  reservation bigint, queue_seconds double precision, purpose text, run_id text, must_be_covered boolean,
  sponsored boolean, hand_free boolean, input text, pricing text, bounds text, base_url text, webhook_destination text,
  webhook_target text, door text, backend text, actor_id text, tokens bigint,
  promised boolean
);
