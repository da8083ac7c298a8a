-- A database as the last program before 0001-baseline.sql left it: its schema after 0050-bare-media-types.sql, and rows that
-- its server wrote. Users with money, keys with limits, models, predictions of every route, webhooks, runs with tools, a
-- sale, a sponsored call, files and drives. The server was killed while predictions ran and waited.

set check_function_bodies = off;

create table schema_migrations (
  name text primary key,
  hash text not null,
  applied_at timestamptz not null default now(),
  must_know boolean not null default false
);

create table plans (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  parallel integer check (parallel > 0),
  storage_bytes bigint check (storage_bytes >= 0)
);

create table settings (
  name text primary key,
  value jsonb not null
);

create table users (
  id text primary key,
  username text not null unique,
  role text not null check (role in ('admin', 'user', 'system')),
  plan text not null references plans (name),
  password_hash text,
  created_at timestamptz not null,
  disabled_at timestamptz,
  check (role <> 'system' or password_hash is null)
);

create index users_active_admins on users (id) where role = 'admin' and disabled_at is null;
create index users_disabled on users (id) where disabled_at is not null;

create table api_keys (
  id text primary key,
  user_id text not null references users (id),
  public text not null unique check (length(public) = 12),
  secret_hash bytea not null check (length(secret_hash) = 32),
  name text not null,
  expires_at timestamptz,
  models text[],
  monthly_limit_micros bigint check (monthly_limit_micros >= 0),
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  session_ends_at timestamptz
);

create index api_keys_of_user on api_keys (user_id, id desc) where revoked_at is null;
create index api_keys_of_sessions on api_keys (session_ends_at) where session_ends_at is not null and revoked_at is null;

create table retired_key_pairs (
  public text primary key check (length(public) = 12),
  key_id text not null references api_keys (id) on delete cascade,
  secret_hash bytea not null check (length(secret_hash) = 32),
  valid_until timestamptz not null,
  of_session boolean not null default false,
  in_grace boolean not null default false
);

create index retired_key_pairs_of_key on retired_key_pairs (key_id);

create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id text not null references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index sign_in_links_expiry on sign_in_links (expires_at);

create table nodes (
  id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  key_proof text,
  file_store text
);

create table clock_marks (
  only_one boolean primary key default true check (only_one),
  trusted_until timestamptz not null,
  steady_ms bigint not null default 0
);

create sequence model_ids;

create table models (
  id text primary key default 'mdl_' || nextval('model_ids'),
  owner_id text not null references users (id),
  name text not null,
  manifest json not null,
  version integer not null default 1,
  seeded json,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  retired_at timestamptz,
  kind text not null generated always as (manifest ->> 'kind') stored,
  visibility text not null generated always as (manifest ->> 'visibility') stored,
  capacity integer not null generated always as ((manifest ->> 'capacity')::integer) stored,
  owner text,
  search_text text,
  taken_down jsonb,
  check (visibility in ('public', 'private')),
  check (capacity >= 0),
  check (taken_down is null or visibility = 'private')
);

create unique index models_endpoint on models (owner_id, name) where retired_at is null;
create index models_listed on models (owner, name) include (id, owner_id, visibility, kind, search_text)
  where retired_at is null;

create table files (
  key text primary key,
  id text not null unique,
  owner_id text not null,
  origin text not null check (origin in ('uploaded', 'link', 'output')),
  state text not null default 'awaiting' check (state in ('awaiting', 'stored')),
  content_type text,
  size bigint,
  etag text,
  max_bytes bigint not null,
  prediction_id text,
  created_at timestamptz not null,
  stored_at timestamptz,
  key_id text,
  check ((origin = 'output') = (prediction_id is not null)),
  check (state = 'awaiting'
    or (size is not null and content_type is not null and etag is not null and stored_at is not null))
);

create index files_awaiting on files (created_at) where state = 'awaiting';
create index files_of_prediction on files (prediction_id) where prediction_id is not null;
create index files_of_owner on files (owner_id, id desc);
create index files_uploaded on files (coalesce(stored_at, created_at)) where origin <> 'output';

create table upload_totals (
  user_id text primary key,
  bytes bigint not null
);
comment on table upload_totals is 'Bytes that each user stores in uploads and drives; outputs of predictions are not counted.';

create table deleted_files (
  key text primary key,
  collect_after timestamptz not null
);

create index deleted_files_due on deleted_files (collect_after);

create table open_links (
  key text primary key,
  created_at timestamptz not null
);

create index open_links_since on open_links (created_at);

create table drives (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  description text,
  created_at timestamptz not null
);

create index drives_of_owner on drives (owner_id, created_at desc, id desc);

create table drive_items (
  drive_id text not null references drives (id) on delete cascade,
  path text collate "C" not null,
  parent text collate "C" not null,
  type text not null check (type in ('file', 'directory')),
  blob_key text unique,
  size bigint,
  content_type text,
  etag text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (drive_id, path),
  check (case type
    when 'file' then blob_key is not null and size is not null and content_type is not null and etag is not null
    else blob_key is null and size is null and content_type is null and etag is null
  end)
);

create index drive_items_of_directory on drive_items (drive_id, parent, path);

create table drive_loose_blobs (
  key text primary key,
  collect_after timestamptz not null,
  is_doomed boolean not null default false
);

create index drive_loose_blobs_due on drive_loose_blobs (collect_after);

create table secrets (
  owner_id text not null references users (id),
  name text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (owner_id, name)
);

create table tool_servers (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  url text not null,
  connection_type text not null check (connection_type in ('streamable_http', 'sse')),
  auth_type text check (auth_type in ('bearer', 'api_key')),
  auth_header text,
  sealed_credential bytea,
  status text not null check (status in ('connected', 'unauthorized', 'unreachable')),
  last_error text,
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (owner_id, name),
  check ((auth_type is null) = (sealed_credential is null)),
  check ((auth_type is not distinct from 'api_key') = (auth_header is not null))
);

create index tool_servers_of_owner on tool_servers (owner_id, created_at desc, id desc);

create table idp_connectors (
  user_id text primary key references users (id),
  domain text not null,
  sealed_token bytea not null,
  token_last4 text not null,
  scopes text[],
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table ledger (
  id bigint generated always as identity primary key,
  recorded_at timestamptz not null default clock_timestamp(),
  kind text not null check (kind in ('credit', 'correction', 'charge', 'sale')),
  from_account text not null,
  to_account text not null,
  amount_micros bigint not null check (amount_micros > 0),
  reference text,
  reason text,
  check (from_account <> to_account),
  check (kind not in ('charge', 'sale') or reference is not null),
  check (kind not in ('credit', 'correction') or reason is not null)
);

create unique index ledger_settles_once on ledger (kind, reference) where reference is not null;
create index ledger_from_outside on ledger (id) where from_account = 'outside';
create index ledger_paid on ledger (from_account, recorded_at desc, id desc) where kind in ('charge', 'sale');
create index ledger_corrected on ledger (from_account, recorded_at desc, id desc) where kind = 'correction';
create index ledger_received on ledger (to_account, recorded_at desc, id desc) where to_account <> 'platform';

create table wallets (
  user_id text primary key references users (id),
  balance_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  running integer not null default 0 check (running >= 0),
  hits bigint[] not null default '{}'
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

create table key_months (
  key_id text not null references api_keys (id),
  month date not null,
  spent_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  primary key (key_id, month)
) with (fillfactor = 50);

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
  price_micros bigint not null,
  key_id text,
  reserved_micros bigint,
  cache_write_tokens integer not null default 0
) partition by range (created_at);

create index usage_of_user on usage (user_id, created_at desc, request_id desc);
create index usage_of_key on usage (key_id, created_at desc, request_id desc) where key_id is not null;

create table usage_default partition of usage default;

create table usage_hours (
  user_id text not null,
  hour timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, hour, model_name)
) with (fillfactor = 50);

create table usage_days (
  user_id text not null,
  day timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, day, model_name)
);

create index usage_hours_by_time on usage_hours using brin (hour) with (pages_per_range = 16, autosummarize = on);
create index usage_days_by_time on usage_days using brin (day) with (pages_per_range = 16, autosummarize = on);

create table usage_marks (
  only_one boolean primary key default true check (only_one),
  days_before timestamptz,
  horizon timestamptz,
  charged_micros bigint not null default 0
);

create table model_slots (
  model_id text primary key references models (id),
  running integer not null default 0 check (running >= 0),
  waiting integer not null default 0 check (waiting >= 0),
  served_at timestamptz not null default '-infinity'
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

create index model_slots_with_line on model_slots (model_id) where waiting > 0;

create table live_predictions (
  id text primary key,
  user_id text not null,
  key_id text,
  model_id text not null,
  model_name text not null,
  route text not null check (route in ('sync', 'stream', 'async', 'agent')),
  high_priority boolean not null default false,
  holder text,
  claim integer not null default 1,
  deaths integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  queue_until timestamptz not null,
  input json,
  pricing json,
  base_url text,
  webhook_destination text,
  webhook_target bytea,
  reserved_micros bigint not null default 0,
  key_month date,
  counts_parallel boolean not null default false,
  bounds json
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

create index live_predictions_running on live_predictions (model_id, user_id) where started_at is not null;
create index live_predictions_holder on live_predictions (holder);
create index live_predictions_calls on live_predictions (holder) where route = 'agent' and started_at is null;
create index live_predictions_for_workers on live_predictions (user_id)
  where started_at is null and holder is null and user_id > '';
create index live_predictions_overdue on live_predictions (queue_until)
  where started_at is null and queue_until > '-infinity';
create index live_predictions_places on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null;
create index live_predictions_waiting_clients on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and holder is not null and route <> 'agent';
create index live_predictions_sponsored on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and key_id is null;

create table model_lines (
  model_id text not null,
  user_id text not null,
  high_priority boolean not null,
  last_turn timestamptz not null default '-infinity',
  primary key (model_id, user_id, high_priority)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);

create index model_lines_in_turn on model_lines (model_id, high_priority desc, last_turn) where user_id > '';

create table last_turns (
  model_id text not null,
  user_id text not null,
  at timestamptz not null,
  primary key (model_id, user_id)
) with (fillfactor = 50);

create table model_flow (
  model_id text not null,
  second bigint not null,
  accepted integer not null default 0,
  ended integer not null default 0,
  primary key (model_id, second)
) with (fillfactor = 50);

create table prediction_fragments (
  prediction_id text not null,
  claim integer not null,
  seq integer not null,
  field text not null,
  fragment text not null,
  primary key (prediction_id, claim, seq)
);

create table prediction_traces (
  prediction_id text primary key,
  trace text not null,
  created_at timestamptz not null default now()
);

create index prediction_traces_age on prediction_traces (created_at);

create table ended_predictions (
  id text primary key,
  user_id text not null,
  key_id text,
  model_id text not null,
  model_name text not null,
  route text not null,
  status integer not null,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz not null default clock_timestamp(),
  inference_ms integer,
  output json,
  error json,
  input_tokens integer,
  output_tokens integer,
  cached_tokens integer,
  stream_details json,
  said json,
  cache_write_tokens integer not null default 0
);

create table idempotency_keys (
  user_id text not null,
  scope text not null,
  key text not null,
  fingerprint text not null,
  prediction_id text not null,
  created_at timestamptz not null default now(),
  taken_by text,
  primary key (user_id, scope, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

create type admission as (
  n integer,
  verdict text,
  rate_limit integer,
  rate_remaining integer,
  rate_reset_ms bigint,
  retry_after_ms bigint
);

create type request_window as (requests integer, oldest_ms bigint);

create table webhook_deliveries (
  id text primary key,
  user_id text not null,
  prediction_id text not null unique,
  model_name text not null,
  destination text not null,
  target bytea not null,
  payload text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'gone')),
  attempts integer not null default 0,
  failures integer not null default 0,
  due_at timestamptz default clock_timestamp(),
  claimed_by text,
  claim integer not null default 0,
  resend boolean not null default false,
  last_status integer,
  last_error text,
  latency_ms integer,
  created_at timestamptz not null default clock_timestamp(),
  delivered_at timestamptz,
  trace text,
  check ((status = 'pending') = (due_at is not null))
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

create index webhook_deliveries_of_user on webhook_deliveries (user_id, id desc);
create index webhook_deliveries_lanes on webhook_deliveries (destination, user_id, due_at) where status = 'pending';
create index webhook_deliveries_due on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

create table webhook_secrets (
  user_id text not null,
  number integer not null,
  sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (user_id, number)
);

create table agents (
  id text primary key,
  owner_id text not null references users (id),
  slug text not null,
  visibility text not null check (visibility in ('private', 'public')),
  latest_revision_id text not null,
  published_revision_id text,
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  search_text text,
  taken_down jsonb,
  check ((published_revision_id is null) = (published_at is null)),
  check (taken_down is null or visibility = 'private')
);

create unique index agents_slug on agents (owner_id, slug) where deleted_at is null;
create index agents_of_owner on agents (owner_id, created_at desc, id desc) where deleted_at is null;
create index agents_ever_at on agents (owner_id, slug);
create index agents_listed on agents (published_at desc, id desc) include (owner_id, search_text)
  where visibility = 'public' and published_revision_id is not null and deleted_at is null;

create table agent_revisions (
  id text primary key,
  agent_id text not null references agents (id),
  number integer not null check (number > 0),
  status text not null check (status in ('draft', 'published', 'superseded')),
  snapshot json not null,
  warnings json not null,
  created_at timestamptz not null,
  unique (agent_id, number),
  unique (agent_id, id)
);

create unique index agent_revisions_published on agent_revisions (agent_id) where status = 'published';

alter table agents
  add foreign key (id, latest_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred,
  add foreign key (id, published_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred;

create table runs (
  id text primary key,
  agent_id text not null,
  revision_id text not null,
  owner_id text not null,
  user_id text not null,
  key_id text not null,
  ancestors text[] not null default '{}',
  parent_step integer,
  parent_position integer,

  status text not null default 'pending' check (status in ('pending', 'running', 'done', 'error')),
  phase text not null default 'queued'
    check (phase in ('queued', 'planning', 'working', 'awaiting_confirmation', 'formatting', 'ended')),
  input json not null,
  output json,
  error json,

  max_cost_micros bigint,
  timeout_ms bigint not null,
  max_steps integer not null,
  approve text[] not null default '{}',
  connectors text[] not null default '{}',
  base_url text not null,

  holder text,
  claim integer not null default 0,
  writes integer not null default 0,
  deaths integer not null default 0,
  parked boolean not null default false,
  cancel_requested boolean not null default false,
  active_ms bigint not null default 0,
  parked_at_ms bigint not null default 0,
  call_id text,
  cut_before integer not null default 0,
  steps integer not null default 0,
  last_event integer not null default 0,

  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  due_micros bigint not null default 0,
  held_micros bigint not null default 0,
  own_held_micros bigint not null default 0,
  price_micros bigint not null default 0 check (price_micros >= 0),
  sale_name text,
  key_month date,

  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  completed_at timestamptz,
  trace text,
  summing_up json,
  cache_write_tokens bigint not null default 0,
  check ((status in ('done', 'error')) = (completed_at is not null))
) with (fillfactor = 50);

create index runs_listed on runs (agent_id, created_at desc, id desc) include (status, user_id);
create index runs_of_user on runs (user_id, created_at desc, id desc);
create index runs_of_parent on runs ((ancestors[cardinality(ancestors)])) where cardinality(ancestors) > 0;
create index runs_of_root on runs ((ancestors[1])) where cardinality(ancestors) > 0;
create index runs_live_of_root on runs ((ancestors[1]))
  where cardinality(ancestors) > 0 and status in ('pending', 'running');
create index runs_next on runs (user_id, (coalesce(ancestors[1], id)), id)
  where holder is null and not parked and status in ('pending', 'running');
create index runs_holder on runs (holder) where holder is not null;
create index runs_held_of_user on runs (user_id) where holder is not null;
create index runs_pending on runs (created_at) where status = 'pending';
create index runs_parked on runs (id) where parked;

create table run_steps (
  run_id text not null,
  n integer not null,
  kind text not null check (kind in ('plan', 'work', 'format', 'summary')),
  message json not null,
  prompt text,
  prediction_id text not null,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cached_tokens integer not null default 0,
  cost_micros bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  cache_write_tokens integer not null default 0,
  primary key (run_id, n)
);

create table run_calls (
  run_id text not null,
  step integer not null,
  position integer not null,
  call_id text not null,
  tool text not null,
  arguments json not null,
  kind text not null check (kind in ('read', 'write', 'agent', 'none')),
  status text not null check (status in ('asking', 'started', 'ended')),
  child_id text,
  result text,
  is_error boolean,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step, position)
);

create table run_events (
  run_id text not null,
  n integer not null,
  type text not null,
  data json not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (run_id, n)
);

create table run_confirmations (
  id text primary key,
  run_id text not null,
  root_id text not null,
  step integer not null,
  position integer not null,
  tool text not null,
  arguments json not null,
  details json,
  arguments_hash text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'expired')),
  reason text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  resolved_at timestamptz,
  unique (run_id, step, position)
);

create index run_confirmations_of_root on run_confirmations (root_id, created_at);
create index run_confirmations_expiry on run_confirmations (expires_at) where status = 'pending';

create table run_secrets (
  id text primary key,
  run_id text not null,
  field text not null,
  sealed bytea not null,
  expires_at timestamptz not null
);

create index run_secrets_expiry on run_secrets (expires_at);

CREATE OR REPLACE FUNCTION add_hits(hits bigint[], now_ms bigint, added integer, per_minute integer)
 RETURNS bigint[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  kept bigint[];
  moment bigint := case when per_minute > 1000 then now_ms / 60 * 60 else now_ms end;
begin
  select coalesce(array_agg(x order by j, side), '{}') into kept
  from generate_series(1, cardinality(hits) / 2) j
    cross join lateral (values (1, hits[2 * j - 1]), (2, hits[2 * j])) as pair (side, x)
  where hits[2 * j - 1] > now_ms - 60000 and hits[2 * j - 1] <= now_ms + hit_slack_ms();
  if cardinality(kept) > 0 and kept[cardinality(kept) - 1] >= moment then
    kept[cardinality(kept)] := kept[cardinality(kept)] + added;
    return kept;
  end if;
  return kept || moment || added::bigint;
end $function$;

CREATE OR REPLACE FUNCTION add_to_closed_days()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  closed_before timestamptz;
begin
  -- Every settlement asks this: without looking at the rows, which are no earlier than the transaction or the clock.
  if not exists (select 1 from usage_marks where days_before > least(now(), clock_timestamp())) then
    return null;
  end if;
  select days_before into closed_before from usage_marks for update;
  with late as (
    select user_id, date_trunc('day', created_at, 'UTC') as day, model_name, count(*) as requests,
      count(*) filter (where price_micros > 0) as paid, sum(price_micros) as spent
    from added where created_at < closed_before group by 1, 2, 3
  ), summed as (
    insert into usage_days as d (user_id, day, model_name, requests, paid_requests, spent_micros)
    select * from late
    on conflict (user_id, day, model_name) do update set requests = d.requests + excluded.requests,
      paid_requests = d.paid_requests + excluded.paid_requests, spent_micros = d.spent_micros + excluded.spent_micros
  )
  update usage_marks set charged_micros = charged_micros
    + coalesce((select sum(spent) from late where model_name not like 'agents/%/%'), 0);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION admit_and_grant(user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint)
 RETURNS SETOF admission
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  decisions admission[];
  granted text[];
  elsewhere text[];
begin
  select array_agg(a order by a.n) into decisions
  from admit_predictions(user_ids, key_ids, model_ids, arrivals, month_now, now_ms) a;

  -- The slots are locked until the end of this transaction.
  if exists (select 1 from unnest(decisions) d where d.verdict = 'wait') then
    insert into model_lines (model_id, user_id, high_priority)
      select distinct model_ids[x.m], user_ids[x.u], x.high_priority
      from unnest(decisions) d
        join json_to_recordset(arrivals) as x (n int, u int, m int, high_priority boolean) on x.n = d.n
      where d.verdict = 'wait' on conflict do nothing;
    select array_agg(g.id) into granted from grant_slots(model_ids, false) g;
    select array_agg(id) into elsewhere from unnest(granted) id
    where id not in (select x.id from json_to_recordset(arrivals) as x (id text));
    perform pg_notify('gantry_granted', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(elsewhere) with ordinality g (id, i)) parts group by part;
  end if;
  return query
    select d.n, case when x.id = any (granted) then 'run' else d.verdict end, d.rate_limit, d.rate_remaining,
      d.rate_reset_ms, d.retry_after_ms
    from unnest(decisions) d join json_to_recordset(arrivals) as x (n int, id text) on x.n = d.n;
end $function$;

CREATE OR REPLACE FUNCTION admit_predictions(user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint)
 RETURNS SETOF admission
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  a record;
  decision admission;
  decisions admission[] := '{}';
  -- By user.
  available bigint[]; running int[]; per_minute int[]; parallel int[]; hits_now int[]; oldest_hit bigint[];
  added_running int[]; added_reserved bigint[]; added_hits int[];
  -- By key; a limit of null is none.
  key_works boolean[]; key_limit bigint[]; key_used bigint[]; added_key bigint[];
  -- By model.
  capacity int[]; retired boolean[]; model_running int[]; model_waiting int[];
  accepted_n int[] := '{}'; accepted_starts boolean[] := '{}'; accepted_counts boolean[] := '{}';
  with_client boolean; starts boolean; counts boolean;
begin
  if position('"run":' in arrivals::text) > 0 then
    perform 1 from runs r where r.id in (select x.run from json_to_recordset(arrivals) as x (run text))
      order by cardinality(r.ancestors), r.id for share;
  end if;
  perform 1 from wallets where user_id = any (user_ids) order by user_id for update;
  select array_agg(w.balance_micros - w.reserved_micros order by g.i), array_agg(w.running order by g.i),
    array_agg(p.requests_per_minute order by g.i), array_agg(p.parallel order by g.i),
    array_agg(case when p.requests_per_minute is null then 0 else h.n end order by g.i),
    array_agg(h.oldest order by g.i), array_agg(0 order by g.i), array_agg(0::bigint order by g.i),
    array_agg(0 order by g.i)
  into available, running, per_minute, parallel, hits_now, oldest_hit, added_running, added_reserved, added_hits
  from unnest(user_ids) with ordinality g (user_id, i)
    left join wallets w on w.user_id = g.user_id
    left join users u on u.id = g.user_id
    left join plans p on p.name = u.plan
    cross join lateral (
      select coalesce(sum(w.hits[2 * j]), 0)::int as n, min(w.hits[2 * j - 1]) as oldest
      from generate_series(1, cardinality(w.hits) / 2) j
      where w.hits[2 * j - 1] > now_ms - 60000 and w.hits[2 * j - 1] <= now_ms + hit_slack_ms()
    ) h;

  if exists (select 1 from api_keys where id = any (key_ids) and monthly_limit_micros is not null) then
    insert into key_months (key_id, month)
      select id, month_now from api_keys where id = any (key_ids) and monthly_limit_micros is not null order by id
      on conflict do nothing;
    perform 1 from key_months where key_id = any (key_ids) and month = month_now order by key_id for update;
  end if;
  select array_agg(k.id is not null and k.revoked_at is null and u.disabled_at is null
      and (k.expires_at is null or k.expires_at > to_timestamp(now_ms / 1000.0)) order by g.i),
    array_agg(k.monthly_limit_micros order by g.i),
    array_agg(coalesce(m.spent_micros + m.reserved_micros, 0) order by g.i), array_agg(0::bigint order by g.i)
  into key_works, key_limit, key_used, added_key
  from unnest(key_ids) with ordinality g (key_id, i)
    left join api_keys k on k.id = g.key_id
    left join users u on u.id = k.user_id
    left join key_months m on m.key_id = g.key_id and m.month = month_now and k.monthly_limit_micros is not null;

  perform 1 from model_slots where model_id = any (model_ids) order by model_id for update;
  if (select count(*) from model_slots where model_id = any (model_ids)) < cardinality(model_ids) then
    -- Called for the first time.
    insert into model_slots (model_id) select id from models where id = any (model_ids) order by id on conflict do nothing;
    perform 1 from model_slots where model_id = any (model_ids) order by model_id for update;
  end if;
  select array_agg(m.capacity order by g.i), array_agg(m.id is null or m.retired_at is not null order by g.i),
    array_agg(s.running order by g.i), array_agg(s.waiting order by g.i)
  into capacity, retired, model_running, model_waiting
  from unnest(model_ids) with ordinality g (model_id, i)
    left join models m on m.id = g.model_id left join model_slots s on s.model_id = g.model_id;

  for a in
    select * from json_to_recordset(arrivals) as x (n int, u int, k int, m int, route text, reservation bigint, purpose text,
      run text, id text, holder text, must_be_covered boolean, sponsored boolean)
    order by n
  loop
    with_client := a.route in ('sync', 'stream');
    decision := row(a.n, null, per_minute[a.u], null, null, null);
    decision.verdict := case
      when a.run is not null and not exists (
        select 1 from runs r where r.id = a.run and r.holder = a.holder and r.call_id = a.id) then 'run_lost'
      when not key_works[a.k] or available[a.u] is null then 'key_gone'
      when retired[a.m] then 'model_retired'
      when capacity[a.m] = 0 then 'model_inactive'
      when a.sponsored then case when available[a.u] < a.reservation then 'no_funds' else 'run' end
      -- Charges stay within reservations, so that a key never spends more than its limit in a month.
      when key_used[a.k] + a.reservation > key_limit[a.k] then 'no_funds'
      when a.must_be_covered and a.reservation > 0 and available[a.u] < a.reservation then 'no_funds'
      -- The price of the run itself, and of its ancestors, is reserved already and does not refuse their own calls.
      when available[a.u] < 0 or key_used[a.k] >= key_limit[a.k] then case when exists (
        select 1 from (
          select sum(r.price_micros) as price from runs c join runs r on r.id = any (c.ancestors || c.id) where c.id = a.run
        ) own where own.price > 0 and available[a.u] + own.price >= 0
          and coalesce(key_used[a.k] - own.price < key_limit[a.k], true)
      ) then 'run' else 'no_funds' end
      when a.route <> 'agent' and hits_now[a.u] >= per_minute[a.u] then 'rate_limit'
      when with_client and running[a.u] >= parallel[a.u] then 'too_many_parallel'
      else 'run'
    end;
    if decision.verdict = 'rate_limit' then
      -- The moment at which enough of the oldest have left the window.
      select greatest(1, moment + 60000 - now_ms) into decision.retry_after_ms from (
        select w.hits[2 * j - 1] as moment, sum(w.hits[2 * j]) over (order by j) as gone
        from wallets w cross join generate_series(1, cardinality(w.hits) / 2) j
        where w.user_id = user_ids[a.u] and w.hits[2 * j - 1] > now_ms - 60000 and w.hits[2 * j - 1] <= now_ms + hit_slack_ms()
      ) line where gone > hits_now[a.u] - added_hits[a.u] - per_minute[a.u] order by moment limit 1;
      -- All of them arrived in this very batch.
      decision.retry_after_ms := coalesce(decision.retry_after_ms, 60000);
    elsif decision.verdict = 'too_many_parallel' then
      decision.retry_after_ms := 1000;
    elsif decision.verdict = 'run' then
      if a.purpose <> 'look' and a.route <> 'agent' and per_minute[a.u] is not null then
        hits_now[a.u] := hits_now[a.u] + 1;
        added_hits[a.u] := added_hits[a.u] + 1;
        oldest_hit[a.u] := coalesce(oldest_hit[a.u], now_ms);
      end if;
      if a.purpose = 'run' then
        available[a.u] := available[a.u] - a.reservation;
        added_reserved[a.u] := added_reserved[a.u] + a.reservation;
        if key_limit[a.k] is not null and a.sponsored is not true then
          key_used[a.k] := key_used[a.k] + a.reservation;
          added_key[a.k] := added_key[a.k] + a.reservation;
        end if;
        starts := model_waiting[a.m] = 0 and model_running[a.m] < capacity[a.m]
          and (with_client or a.route = 'agent' and (a.sponsored is true or coalesce(running[a.u] < parallel[a.u], true)));
        if starts then
          model_running[a.m] := model_running[a.m] + 1;
        else
          model_waiting[a.m] := model_waiting[a.m] + 1;
          decision.verdict := 'wait';
        end if;
        counts := with_client or starts and a.sponsored is not true;
        if counts then
          running[a.u] := running[a.u] + 1;
          added_running[a.u] := added_running[a.u] + 1;
        end if;
        accepted_n := accepted_n || a.n;
        accepted_starts := accepted_starts || starts;
        accepted_counts := accepted_counts || counts;
      end if;
    end if;
    if per_minute[a.u] is not null then
      decision.rate_remaining := greatest(0, per_minute[a.u] - hits_now[a.u]);
      decision.rate_reset_ms := coalesce(oldest_hit[a.u] + 60000 - now_ms, 0);
    end if;
    decisions := decisions || decision;
  end loop;

  if cardinality(accepted_n) > 0 then
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder,
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, bounds, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], case when x.sponsored is not true then key_ids[x.k] end, model_ids[x.m], x.model_name, x.route, x.high_priority, x.holder,
      x.reservation, a2.counts, case when key_limit[x.k] is not null and x.sponsored is not true then month_now end,
      case when a2.starts then clock_timestamp() end, now() + make_interval(secs => x.queue_seconds), x.input::json,
      x.pricing::json, x.bounds::json, x.base_url, x.webhook_destination, decode(x.webhook_target, 'base64')
    from json_to_recordset(arrivals) as x (n int, id text, u int, k int, m int, model_name text, route text,
        high_priority boolean, holder text, reservation bigint, queue_seconds double precision, input text, pricing text,
        bounds text, base_url text, webhook_destination text, webhook_target text, sponsored boolean)
      join unnest(accepted_n, accepted_starts, accepted_counts) as a2 (n, starts, counts) on a2.n = x.n;
    update model_slots s set running = g.running, waiting = g.waiting
    from unnest(model_ids, model_running, model_waiting) as g (model_id, running, waiting)
    where s.model_id = g.model_id and (s.running <> g.running or s.waiting <> g.waiting);
    insert into model_flow as f (model_id, second, accepted)
      select model_ids[x.m], now_ms / 1000, count(*)
      from json_to_recordset(arrivals) as x (n int, m int) where x.n = any (accepted_n) group by 1
      on conflict (model_id, second) do update set accepted = f.accepted + excluded.accepted;
    update key_months m set reserved_micros = m.reserved_micros + g.added
    from unnest(key_ids, added_key) as g (key_id, added)
    where m.key_id = g.key_id and m.month = month_now and g.added > 0;
  end if;
  update wallets w set running = w.running + g.running, reserved_micros = w.reserved_micros + g.reserved,
    hits = case when g.hits = 0 then w.hits else add_hits(w.hits, now_ms, g.hits, g.per_minute) end
  from unnest(user_ids, added_running, added_reserved, added_hits, per_minute)
    as g (user_id, running, reserved, hits, per_minute)
  where w.user_id = g.user_id and (g.running > 0 or g.reserved > 0 or g.hits > 0);
  return query select * from unnest(decisions);
end $function$;

CREATE OR REPLACE FUNCTION append_events(wanted text, added json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  from_n integer;
begin
  update runs set last_event = last_event + json_array_length(added)
    where id = wanted and status in ('pending', 'running')
    returning last_event - json_array_length(added) into from_n;
  if from_n is null then return; end if;
  insert into run_events (run_id, n, type, data)
    select wanted, from_n + i, e ->> 'type', e -> 'data' from json_array_elements(added) with ordinality g (e, i);
  perform pg_notify('gantry_run_events', wanted);
end $function$;

CREATE OR REPLACE FUNCTION apply_to_wallets()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION asks_below(wanted text, root text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select 1 from run_confirmations q join runs b on b.id = q.run_id
    where q.root_id = root and q.status = 'pending' and (b.id = wanted or wanted = any (b.ancestors)))
$function$;

CREATE OR REPLACE FUNCTION choose_jobs(hands integer)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  model record;
  ids text[] := '{}';
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity order by s.served_at
  loop
    ids := ids || array(
      select line.id from next_in_line(model.model_id, least(model.free, hands), false) line where line.holder is null);
    exit when cardinality(ids) >= hands;
  end loop;
  return ids;
end $function$;

CREATE OR REPLACE FUNCTION claim_predictions(node text, hands integer)
 RETURNS SETOF live_predictions
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  ids text[] := choose_jobs(hands);
begin
  if cardinality(ids) = 0 then return; end if;
  perform 1 from wallets where user_id in (select l.user_id from live_predictions l where l.id = any (ids))
    order by user_id for update;
  perform 1 from model_slots where model_id in (select l.model_id from live_predictions l where l.id = any (ids))
    order by model_id for update;
  return query select * from take_jobs(node, ids, hands);
end $function$;

CREATE OR REPLACE FUNCTION claim_runs(node text, hands integer)
 RETURNS SETOF runs
 LANGUAGE sql
AS $function$
  select * from claim_runs(node, hands, hands)
$function$;

CREATE OR REPLACE FUNCTION claim_runs(node text, wanted integer, spare integer)
 RETURNS SETOF runs
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  -- One claim at a time over all nodes. Two at once could both count the same free slot of a user.
  perform pg_advisory_xact_lock(hashtext('gantry.runs.claim'));
  return query
  with recursive ready_users as (
    (select r.user_id from runs r where r.holder is null and not r.parked and r.status in ('pending', 'running')
      order by r.user_id limit 1)
    union all
    select (select r.user_id from runs r where r.holder is null and not r.parked and r.status in ('pending', 'running')
      and r.user_id > u.user_id order by r.user_id limit 1)
    from ready_users u where u.user_id is not null
  ), candidates as (
    select next.id, row_number() over (order by next.nth, next.root, next.id) as place, next.nth
    from ready_users u join users on users.id = u.user_id join plans p on p.name = users.plan
    cross join lateral (
      select count(*)::int as n from runs h where h.user_id = u.user_id and h.holder is not null
    ) held
    cross join lateral (
      select r.id, coalesce(r.ancestors[1], r.id) as root,
        held.n + row_number() over (order by coalesce(r.ancestors[1], r.id), r.id) as nth
      from runs r
      where r.user_id = u.user_id and r.holder is null and not r.parked and r.status in ('pending', 'running')
      order by coalesce(r.ancestors[1], r.id), r.id limit greatest(0, least(wanted, p.parallel - held.n))
    ) next
  ), free as (
    -- Asked as `completed_at`, live runs are looked up by id. By `status`, the planner would read all of `runs_next`.
    select r.id from runs r
    where r.id = any (array(select c.id from candidates c where c.place <= wanted and (c.nth = 1 or c.place <= spare)))
      and r.holder is null and not r.parked and r.completed_at is null
    for update skip locked
  )
  update runs r set holder = node, claim = r.claim + 1, status = 'running', started_at = coalesce(r.started_at, clock_timestamp())
  from free where r.id = free.id returning r.*;
end $function$;

CREATE OR REPLACE FUNCTION count_deleted_drive()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into upload_totals as t (user_id, bytes)
    select old.owner_id, -sum(size) from drive_items where drive_id = old.id having sum(size) is not null
    on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  return old;
end $function$;

CREATE OR REPLACE FUNCTION count_drive_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, sum(i.size) from added i join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  elsif tg_op = 'UPDATE' then
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, sum(i.size)
      from (select drive_id, size from added union all select drive_id, -size from removed) i
      join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  else
    insert into upload_totals as t (user_id, bytes)
      select d.owner_id, -sum(i.size) from removed i join drives d on d.id = i.drive_id
      where i.size is not null group by d.owner_id
      on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION count_upload()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  more bigint := -coalesce(old.size, 0);
begin
  if tg_op = 'UPDATE' then more := more + coalesce(new.size, 0); end if;
  insert into upload_totals as t (user_id, bytes) values (old.owner_id, more)
    on conflict (user_id) do update set bytes = t.bytes + excluded.bytes;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION end_no_sooner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.completed_at := new.created_at;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION give_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into wallets (user_id) values (new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION grant_slots(wanted text[], clients_only boolean)
 RETURNS TABLE(id text, holder text, claim integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  model record;
  started text[];
begin
  for model in
    select s.model_id, m.capacity - s.running as free from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (wanted) and s.waiting > 0 and s.running < m.capacity and (
      select true from live_predictions l
      where l.model_id = s.model_id and l.started_at is null and l.holder is not null and l.route <> 'agent' limit 1)
    order by s.model_id
  loop
    select array_agg(line.id) into started
    from next_in_line(model.model_id, model.free, clients_only) line join live_predictions l on l.id = line.id
    where l.holder is not null and l.route <> 'agent';
    continue when started is null;
    return query
      update live_predictions l set started_at = clock_timestamp() where l.id = any (started)
      returning l.id, l.holder, l.claim;
    update model_slots s set running = s.running + cardinality(started), waiting = s.waiting - cardinality(started)
    where s.model_id = model.model_id;
    perform note_turns(started);
    perform leave_lines(array[model.model_id]);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION hand_on_slots(touched_models text[], touched_users text[], OUT grants json, OUT wake boolean)
 RETURNS record
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
begin
  wake := exists (select 1 from model_slots where model_id = any (touched_models) and waiting > 0);
  if wake then
    select json_agg(g) into grants from grant_slots(touched_models, false) g;
  else
    wake := exists (select 1 from live_predictions
      where user_id = any (touched_users) and user_id > '' and started_at is null and holder is null);
  end if;
  if exists (select 1 from live_predictions where route = 'agent' and started_at is null) then
    perform pg_notify('gantry_calls', '');
  end if;
end $function$;

CREATE OR REPLACE FUNCTION hit_slack_ms()
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$ select 20000::bigint $function$;

CREATE OR REPLACE FUNCTION last_minute(hits bigint[], now_ms bigint)
 RETURNS request_window
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  requests integer := 0;
  oldest_ms bigint;
  pairs integer := coalesce(cardinality(hits) / 2, 0);
begin
  while pairs > 0 and hits[2 * pairs - 1] > now_ms + hit_slack_ms() loop
    pairs := pairs - 1;
  end loop;
  for j in reverse pairs .. 1 loop
    exit when hits[2 * j - 1] <= now_ms - 60000;
    requests := requests + hits[2 * j];
    oldest_ms := hits[2 * j - 1];
  end loop;
  return (requests, oldest_ms);
end $function$;

CREATE OR REPLACE FUNCTION leave_lines(touched_models text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
begin
  delete from model_lines v using (
    select f.* from unnest(touched_models) as t (model_id) cross join lateral (
      select o.model_id, o.user_id, o.high_priority from model_lines o
      where o.model_id = t.model_id and o.user_id > ''
      order by o.high_priority desc, o.last_turn limit 20
    ) f
  ) front
  where v.model_id = front.model_id and v.user_id = front.user_id and v.high_priority = front.high_priority
    and (
      select true from live_predictions l
      where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
        and l.started_at is null limit 1) is null;
end $function$;

CREATE OR REPLACE FUNCTION mend_lines()
 RETURNS void
 LANGUAGE sql
 SET enable_seqscan TO 'off'
AS $function$
  with recursive places as (
    (select l.model_id, l.user_id, l.high_priority from live_predictions l where l.started_at is null
      order by 1, 2, 3 limit 1)
    union all
    select n.* from places p cross join lateral (
      select l.model_id, l.user_id, l.high_priority from live_predictions l
      where l.started_at is null and (l.model_id, l.user_id, l.high_priority) > (p.model_id, p.user_id, p.high_priority)
      order by 1, 2, 3 limit 1
    ) n
  )
  insert into model_lines (model_id, user_id, high_priority) select * from places on conflict do nothing
$function$;

CREATE OR REPLACE FUNCTION next_in_line(wanted text, n integer, clients_only boolean)
 RETURNS TABLE(id text, user_id text, holder text, claim integer)
 LANGUAGE sql
 STABLE
AS $function$
  with standing as materialized (
    select v.user_id, v.high_priority, v.last_turn, r.all_go
    from model_lines v cross join lateral (
      select not clients_only and coalesce(p.parallel > w.running, true) as all_go
      from wallets w join users u on u.id = w.user_id join plans p on p.name = u.plan where w.user_id = v.user_id
    ) r
    where v.model_id = wanted and v.user_id > '' and case when r.all_go
      then (
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null limit 1)
      else coalesce((
        select true from live_predictions l where l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.holder is not null
          and l.route <> 'agent' limit 1), (
        select true from live_predictions l where not clients_only and l.model_id = wanted and l.user_id = v.user_id
          and l.high_priority = v.high_priority and l.started_at is null and l.key_id is null limit 1))
    end
    order by v.high_priority desc, v.last_turn limit n + 64
  ), size as (
    select 1 + 2 * n / greatest(count(*), 1) as each from standing
  )
  select line.id, line.user_id, line.holder, line.claim
  from size cross join standing s cross join lateral (
    select l.*, row_number() over (order by l.created_at) + (
        select count(*) from live_predictions r
        where r.model_id = wanted and r.user_id = s.user_id and r.started_at is not null
      ) as turn
    from (
      -- Separate branches, because a user at the parallel limit may have a million queued before the first that may go.
      (select * from live_predictions l
        where s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and l.model_id = wanted and l.user_id = s.user_id and l.high_priority = s.high_priority
          and l.started_at is null and l.holder is not null and l.route <> 'agent'
        order by l.created_at limit size.each)
      union all
      (select * from live_predictions l
        where not s.all_go and not clients_only and l.model_id = wanted and l.user_id = s.user_id
          and l.high_priority = s.high_priority and l.started_at is null and l.key_id is null
        order by l.created_at limit size.each)
    ) l
  ) line
  order by line.high_priority desc, line.turn, s.last_turn, line.created_at limit n
$function$;

CREATE OR REPLACE FUNCTION note_agent_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.search_text := (
    select lower(u.username || '/' || new.slug || ' ' || (r.snapshot ->> 'name'))
    from users u, agent_revisions r where u.id = new.owner_id and r.id = new.published_revision_id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION note_model_names()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.owner := (select username from users where id = new.owner_id);
  new.search_text := lower(new.owner || '/' || new.name || ' ' || (new.manifest ->> 'title'));
  return new;
end $function$;

CREATE OR REPLACE FUNCTION note_open_link()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    delete from open_links where key = old.key;
  else
    insert into open_links (key, created_at) values (new.key, new.created_at);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION note_turns(started text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
begin
  with served as (
    select distinct l.model_id, l.user_id from live_predictions l where l.id = any (started)
  ), turns as (
    select v.model_id, v.user_id, v.high_priority, coalesce((
        select true from live_predictions l
        where l.model_id = v.model_id and l.user_id = v.user_id and l.high_priority = v.high_priority
          and l.started_at is null limit 1
      ), false) as goes_on
    from served s join model_lines v on v.model_id = s.model_id and v.user_id = s.user_id
  ), left_line as (
    delete from model_lines v using turns t where not t.goes_on
      and v.model_id = t.model_id and v.user_id = t.user_id and v.high_priority = t.high_priority
  )
  update model_lines v set last_turn = clock_timestamp() from turns t where t.goes_on
    and v.model_id = t.model_id and v.user_id = t.user_id and v.high_priority = t.high_priority;
end $function$;

CREATE OR REPLACE FUNCTION refuse_balance_by_hand()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Depth 1 is this trigger itself; a change that the ledger's trigger makes comes at depth 2.
  if pg_trigger_depth() < 2 then
    raise exception 'a balance changes by a ledger row only';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name;
end $function$;

CREATE OR REPLACE FUNCTION release_predictions(ids text[], claims integer[], died boolean)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
begin
  perform 1 from wallets where user_id in (select user_id from live_predictions where id = any (ids))
    order by user_id for update;
  perform 1 from model_slots where model_id in (select model_id from live_predictions where id = any (ids))
    order by model_id for update;
  return query
    with back as (
      update live_predictions l set started_at = null, holder = null, claim = l.claim + 1, counts_parallel = false,
        queue_until = l.queue_until + (clock_timestamp() - l.started_at),
        deaths = l.deaths + case when died then 1 else 0 end
      from unnest(ids, claims) as g (id, claim)
      where l.id = g.id and l.claim = g.claim and l.route = 'async' and l.started_at is not null
      returning l.id, l.user_id, l.model_id, l.high_priority
    ), wallet as (
      update wallets w set running = w.running - d.n
      from (select user_id, count(*)::int as n from back group by 1) d where w.user_id = d.user_id
    ), slot as (
      update model_slots s set running = s.running - d.n, waiting = s.waiting + d.n
      from (select model_id, count(*)::int as n from back group by 1) d where s.model_id = d.model_id
    ), line as (
      insert into model_lines (model_id, user_id, high_priority)
      select distinct model_id, user_id, high_priority from back on conflict do nothing
    )
    select back.id from back;
end $function$;

CREATE OR REPLACE FUNCTION release_runs(dead_holder text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  n integer;
begin
  with free as (select r.id from runs r where r.holder = dead_holder for update skip locked)
  update runs r set holder = null, claim = r.claim + 1, deaths = r.deaths + 1 from free where r.id = free.id;
  get diagnostics n = row_count;
  return n;
end $function$;

CREATE OR REPLACE FUNCTION resolve_confirmation(wanted text, answer text, why text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
declare
  q run_confirmations;
  chain text[];
begin
  select r.ancestors || r.id into chain from run_confirmations c join runs r on r.id = c.run_id where c.id = wanted;
  perform 1 from runs r where r.id = any (chain) order by cardinality(r.ancestors), r.id for update;
  if answer <> 'expired' and exists (
    select 1 from runs r where r.id = any (chain)
      and (r.status in ('done', 'error') or r.cancel_requested or r.active_ms >= r.timeout_ms)) then
    return null;
  end if;
  update run_confirmations set status = answer, reason = why, resolved_at = clock_timestamp()
    where id = wanted and status = 'pending' and (answer = 'expired' or expires_at > clock_timestamp()) returning * into q;
  if q.id is null then return null; end if;
  perform append_events(one.id, resolved_event(q.id, q.tool, answer, why)) from unnest(chain) as one (id);
  update runs r set parked = false
  where r.id = q.run_id and r.parked and not exists (
    select 1 from run_confirmations o where o.run_id = q.run_id and o.status = 'pending');
  perform show_waiting(chain, q.root_id);
  return json_build_object('id', q.id, 'run_id', q.run_id);
end $function$;

CREATE OR REPLACE FUNCTION resolved_event(id text, tool text, answer text, why text)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select json_build_array(json_build_object('type', 'confirmation_resolved', 'data', json_build_object(
    'confirmation_id', id, 'tool', tool, 'approved', answer = 'approved', 'status', answer, 'reason', why)))
$function$;

CREATE OR REPLACE FUNCTION rewrite_function(named regprocedure, old text, new text, times integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  definition constant text := pg_get_functiondef(named);
begin
  if length(definition) - length(replace(definition, old, '')) <> times * length(old) then
    raise exception '% does not have the text that is to be changed % times', named, times;
  end if;
  execute replace(definition, old, new);
end $function$;

CREATE OR REPLACE FUNCTION settle_predictions(endings json)
 RETURNS json
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  ids text[];
  ended text[];
  ended_n int[];
  touched_models text[];
  touched_users text[];
  words json;
  grants json;
  webhooks json;
  inputs json;
  wake boolean := false;
begin
  select array_agg(x.id) into ids from json_to_recordset(endings) as x (id text);
  perform 1 from wallets where user_id in (select user_id from live_predictions where id = any (ids))
    order by user_id for update;
  perform 1 from key_months m where (m.key_id, m.month) in (
      select key_id, key_month from live_predictions where id = any (ids) and key_month is not null)
    order by m.key_id, m.month for update;
  perform 1 from model_slots where model_id in (select model_id from live_predictions where id = any (ids))
    order by model_id for update;

  with given as (
    select * from json_to_recordset(endings) as x (n int, id text, claim int, status int, inference_ms int, output text,
      error text, input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int, stream_details text,
      price bigint, said json)
  ), gone as (
    delete from live_predictions l using given g where l.id = g.id and l.claim = g.claim
    returning l.*, g.n, g.status, g.inference_ms, g.output, g.error, g.input_tokens, g.output_tokens, g.cached_tokens,
      coalesce(g.cache_write_tokens, 0) as cache_write_tokens, g.stream_details, g.said,
      least(g.price, l.reserved_micros) as price, clock_timestamp() as at
  ), results as (
    insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
      ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details)
    select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
      output::json, error::json, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details::json
    from gone
  ), used as (
    insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, inference_ms, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reserved_micros, price_micros)
    select id, user_id, key_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, reserved_micros, price
    from gone
  ), summed as (
    insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
    select user_id, date_trunc('hour', at), model_name, count(*), count(*) filter (where price > 0), sum(price)
    from gone group by 1, 2, 3
    on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
      paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
  ), released as (
    update wallets w set reserved_micros = w.reserved_micros - d.reserved, running = w.running - d.running
    from (
      select user_id, sum(reserved_micros)::bigint as reserved, count(*) filter (where counts_parallel)::int as running
      from gone group by user_id
    ) d
    where w.user_id = d.user_id and (d.reserved <> 0 or d.running <> 0)
  ), months as (
    update key_months m set reserved_micros = m.reserved_micros - d.reserved, spent_micros = m.spent_micros + d.price
    from (
      select key_id, key_month, sum(reserved_micros)::bigint as reserved, sum(price)::bigint as price
      from gone where key_month is not null group by key_id, key_month
    ) d
    where m.key_id = d.key_id and m.month = d.key_month
  ), charged as (
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
    select at, 'charge', 'user:' || user_id, 'platform', price, id from gone where price > 0
  ), freed as (
    update model_slots s set running = s.running - d.running, waiting = s.waiting - d.waiting
    from (
      select model_id, count(started_at)::int as running, (count(*) - count(started_at))::int as waiting
      from gone group by model_id
    ) d
    where s.model_id = d.model_id
  ), flowed as (
    insert into model_flow as f (model_id, second, ended)
      select model_id, extract(epoch from at)::bigint, count(*) from gone group by 1, 2
      on conflict (model_id, second) do update set ended = f.ended + excluded.ended
  )
  select array_agg(id), array_agg(n), array_agg(distinct model_id), array_agg(distinct user_id),
    json_agg(json_build_object('id', id, 'said', said)) filter (where said is not null),
    json_agg(json_build_object('n', n, 'id', id, 'user_id', user_id, 'model_name', model_name,
      'destination', webhook_destination, 'target', encode(webhook_target, 'base64'), 'base_url', base_url))
      filter (where webhook_target is not null),
    json_agg(json_build_object('id', id, 'input', input)) filter (where input::text like '%"$file"%')
  into ended, ended_n, touched_models, touched_users, words, webhooks, inputs
  from gone;

  if exists (select 1 from model_slots where model_id = any (touched_models) and waiting > 0) then
    select json_agg(g) into grants from grant_slots(touched_models, false) g;
    wake := exists (select 1 from live_predictions
      where model_id = any (touched_models) and started_at is null and holder is null);
  end if;
  wake := wake or exists (select 1 from live_predictions
    where user_id = any (touched_users) and started_at is null and holder is null);
  if exists (select 1 from live_predictions where route = 'agent' and started_at is null
    and (user_id = any (touched_users) or model_id = any (touched_models))) then
    perform pg_notify('gantry_calls', '');
  end if;
  if ended is not null then
    -- A statement of its own: it sees what was still being written when the rows above were locked.
    with written as (
      delete from prediction_fragments where prediction_id = any (ended)
      returning prediction_id, claim, seq, field, fragment
    ), said as (
      select * from written
      -- Not `all`: a piece may have been written although its writer does not know it yet.
      union select w.id, f.claim, f.seq, f.field, f.fragment
      from json_to_recordset(words) as w (id text, said json)
        cross join lateral json_to_recordset(w.said) as f (claim integer, seq integer, field text, fragment text)
    )
    update ended_predictions e set said = s.fragments
    from (
      select prediction_id, json_agg(json_build_object('claim', claim, 'seq', seq, 'field', field,
        'fragment', fragment) order by claim, seq) as fragments
      from said group by prediction_id
    ) s
    where e.id = any (ended) and e.id = s.prediction_id and e.status <> 200;
    -- Whoever waits for one of them hears of it; a notification carries 8000 bytes.
    perform pg_notify('gantry_ended', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(ended) with ordinality g (id, i)) parts group by part;
  end if;
  return json_build_object('ended', coalesce(ended, '{}'), 'ended_n', coalesce(ended_n, '{}'),
    'grants', coalesce(grants, '[]'), 'webhooks', coalesce(webhooks, '[]'), 'inputs', coalesce(inputs, '[]'),
    'wake', wake);
end $function$;

CREATE OR REPLACE FUNCTION show_waiting(wanted text[], root text)
 RETURNS void
 LANGUAGE sql
AS $function$
  update runs r set phase = case when r.phase = 'working' then 'awaiting_confirmation' else 'working' end
  where r.id = any (wanted) and r.holder is null and r.status = 'running'
    and r.phase = case when asks_below(r.id, root) then 'working' else 'awaiting_confirmation' end
$function$;

CREATE OR REPLACE FUNCTION shown_call_id(run_id text, step integer, "position" integer)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select 'call_' || left(encode(sha256(convert_to(format('%s-%s-%s', run_id, step, "position"), 'UTF8')), 'hex'), 12)
$function$;

CREATE OR REPLACE FUNCTION start_agent_calls(node text)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
declare
  model record;
  call record;
  ids text[] := '{}';
  user_ids text[]; user_room int[]; models_wanted text[]; model_room int[];
  taken text[] := '{}';
  u int; m int;
begin
  for model in
    select s.model_id, md.capacity - s.running as free from model_slots s join models md on md.id = s.model_id
    where s.waiting > 0 and s.running < md.capacity and s.model_id in (
      select l.model_id from live_predictions l where l.holder = node and l.route = 'agent' and l.started_at is null)
  loop
    ids := ids || array(
      select line.id from next_in_line(model.model_id, model.free, false) line join live_predictions l on l.id = line.id
      where l.holder = node and l.route = 'agent');
  end loop;
  if cardinality(ids) = 0 then return; end if;

  select array_agg(distinct l.user_id order by l.user_id), array_agg(distinct l.model_id order by l.model_id)
    into user_ids, models_wanted from live_predictions l where l.id = any (ids);
  perform 1 from wallets w where w.user_id = any (user_ids) order by w.user_id for update;
  perform 1 from model_slots s where s.model_id = any (models_wanted) order by s.model_id for update;
  select array_agg(coalesce(p.parallel - w.running, cardinality(ids)) order by w.user_id) into user_room
    from wallets w join users on users.id = w.user_id join plans p on p.name = users.plan where w.user_id = any (user_ids);
  select array_agg(md.capacity - s.running order by s.model_id) into model_room
    from model_slots s join models md on md.id = s.model_id where s.model_id = any (models_wanted);
  for call in
    select l.id, l.user_id, l.model_id, l.key_id is null as sponsored from unnest(ids) with ordinality g (id, i) join live_predictions l on l.id = g.id
    where l.started_at is null order by g.i
  loop
    u := array_position(user_ids, call.user_id);
    m := array_position(models_wanted, call.model_id);
    if (call.sponsored or user_room[u] > 0) and model_room[m] > 0 then
      user_room[u] := user_room[u] - case when call.sponsored then 0 else 1 end;
      model_room[m] := model_room[m] - 1;
      taken := taken || call.id;
    end if;
  end loop;
  if cardinality(taken) = 0 then return; end if;

  update live_predictions l set started_at = clock_timestamp(), counts_parallel = l.key_id is not null where l.id = any (taken);
  update wallets w set running = w.running + d.n
  from (select l.user_id, count(*)::int as n from live_predictions l where l.id = any (taken) and l.key_id is not null group by 1) d
  where w.user_id = d.user_id;
  update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n
  from (select l.model_id, count(*)::int as n from live_predictions l where l.id = any (taken) group by 1) d
  where s.model_id = d.model_id;
  perform note_turns(taken);
  return query select unnest(taken);
end $function$;

CREATE OR REPLACE FUNCTION take_jobs(node text, ids text[], hands integer)
 RETURNS SETOF live_predictions
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  taken text[];
begin
  with present as (
    select l.id, l.user_id, l.model_id, g.i, row_number() over (partition by l.user_id order by g.i) as of_user
    from unnest(ids) with ordinality g (id, i) cross join lateral (
      -- Found by its id first: offset keeps the planner from another order.
      select * from live_predictions o where o.id = g.id offset 0
    ) l
    where l.started_at is null and l.holder is null
  ), allowed as (
    select f.id, f.model_id, f.i, row_number() over (partition by f.model_id order by f.i) as of_model
    from present f join wallets w on w.user_id = f.user_id join users u on u.id = f.user_id
      join plans p on p.name = u.plan
    where f.of_user <= coalesce(p.parallel - w.running, hands)
  )
  select array_agg(c.id) into taken from (
    select a.id from allowed a join model_slots s on s.model_id = a.model_id join models md on md.id = a.model_id
    where a.of_model <= md.capacity - s.running order by a.i limit hands
  ) c;
  if taken is null then return; end if;
  return query
    with started as (
      update live_predictions l set started_at = clock_timestamp(), holder = node, claim = l.claim + 1,
        counts_parallel = true
      where l.id = any (taken) returning l.*
    ), counted as (
      update wallets w set running = w.running + d.n
      from (select user_id, count(*)::int as n from started group by 1) d where w.user_id = d.user_id
    ), given as (
      update model_slots s set running = s.running + d.n, waiting = s.waiting - d.n, served_at = clock_timestamp()
      from (select model_id, count(*)::int as n from started group by 1) d where s.model_id = d.model_id
    )
    select * from started;
  perform note_turns(taken);
  perform leave_lines(array(select distinct l.model_id from live_predictions l where l.id = any (taken)));
end $function$;

CREATE OR REPLACE FUNCTION tell_of_question()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('gantry_run_ended', new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION wake_out_of_time()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.parked := false;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION write_plain_changes(changes json)
 RETURNS json
 LANGUAGE sql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
  with given as materialized (
    select distinct on (x.id) x.* from json_to_recordset(changes) as x (n int, id text, claim int, holder text, seq int,
        hold bigint, phase text, call_id text, cut_before int, active_ms bigint, release boolean, park text, step json,
        cost json, calls json, starts json, ends json, confirmations json, secrets json, events json, "end" json)
      join runs r on r.id = x.id
    where r.claim = x.claim and r.writes = x.seq and r.holder = x.holder and r.status = 'running'
      and cardinality(r.ancestors) = 0 and r.max_cost_micros is null and r.own_held_micros = 0
      and x.hold is null and x.release is not true and x.park is null and x."end" is null
      and x.starts is null and x.confirmations is null and x.secrets is null
    order by x.id, x.n
  ), stepped as (
    insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost_micros)
    select g.id, s.n, s.kind, s.message, s.prompt, s.prediction_id, s.input_tokens, s.output_tokens, s.cached_tokens,
      coalesce(s.cache_write_tokens, 0), s.cost_micros
    from given g cross join lateral json_to_record(g.step) as s (n int, kind text, message json, prompt text,
      prediction_id text, input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int,
      cost_micros bigint)
    where g.step is not null
  ), called as (
    insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, child_id, result, is_error,
      started_at, ended_at)
    select g.id, k.*, case when k.status = 'started' then clock_timestamp() end,
      case when k.status = 'ended' then clock_timestamp() end
    from given g cross join lateral json_to_recordset(g.calls) as k (step int, position int, call_id text, tool text,
      arguments json, kind text, status text, child_id text, result text, is_error boolean)
    where g.calls is not null
  ), ended as (
    update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = e.result, is_error = e.is_error
    from given g cross join lateral json_to_recordset(g.ends) as e (step int, position int, result text, is_error boolean)
    where g.ends is not null and k.run_id = g.id and k.step = e.step and k.position = e.position and k.status <> 'ended'
  ), moved as (
    update runs r set writes = r.writes + 1, phase = coalesce(g.phase, r.phase), call_id = coalesce(g.call_id, r.call_id),
      cut_before = coalesce(g.cut_before, r.cut_before), steps = coalesce(s.n, r.steps),
      active_ms = r.active_ms + coalesce(g.active_ms, 0),
      parked_at_ms = r.active_ms + coalesce(g.active_ms, 0),
      deaths = case when g.step is not null or g.ends is not null then 0 else r.deaths end,
      cost_micros = r.cost_micros + coalesce(s.cost_micros, 0) + coalesce(c.cost_micros, 0),
      input_tokens = r.input_tokens + coalesce(s.input_tokens, 0) + coalesce(c.input_tokens, 0),
      output_tokens = r.output_tokens + coalesce(s.output_tokens, 0) + coalesce(c.output_tokens, 0),
      cached_tokens = r.cached_tokens + coalesce(s.cached_tokens, 0) + coalesce(c.cached_tokens, 0),
      cache_write_tokens = r.cache_write_tokens + coalesce(s.cache_write_tokens, 0) + coalesce(c.cache_write_tokens, 0),
      last_event = r.last_event + coalesce(json_array_length(g.events), 0)
    from given g
      left join lateral json_to_record(g.step) as s (n int, input_tokens bigint, output_tokens bigint, cached_tokens bigint,
        cache_write_tokens bigint, cost_micros bigint) on true
      left join lateral json_to_record(g.cost) as c (input_tokens bigint, output_tokens bigint, cached_tokens bigint,
        cache_write_tokens bigint, cost_micros bigint) on true
    where r.id = g.id
    returning r.id, g.n, g.events, r.last_event - coalesce(json_array_length(g.events), 0) as from_n, r.cancel_requested
  ), told as (
    insert into run_events (run_id, n, type, data)
    select m.id, m.from_n + i, e ->> 'type', e -> 'data'
    from moved m cross join lateral json_array_elements(m.events) with ordinality as g (e, i) where m.events is not null
  )
  select json_agg(json_build_object('n', m.n, 'written', true, 'cancel', m.cancel_requested, 'room', null, 'spare', null,
    'held', true, 'wake', false,
    'told', case when m.events is not null then pg_notify('gantry_run_events', m.id)::text end)) from moved m
$function$;

CREATE OR REPLACE FUNCTION write_predictions(end_ids text[], end_claims integer[], end_statuses integer[], end_inference_ms integer[], end_outputs text[], end_errors text[], end_input_tokens integer[], end_output_tokens integer[], end_cached_tokens integer[], end_cache_write_tokens integer[], end_stream_details text[], end_prices bigint[], ids text[], user_of integer[], key_of integer[], model_of integer[], routes text[], priorities boolean[], reservations bigint[], queue_seconds double precision[], node text, run_ids text[], hand_free boolean[], inputs text[], pricings text[], bounds text[], base_urls text[], webhook_destinations text[], webhook_targets text[], user_ids text[], user_requests integer[], user_clients integer[], user_here integer[], user_reservations bigint[], key_ids text[], key_reservations bigint[], month_now date, model_ids text[], model_names text[], model_arrivals integer[], model_clients integer[], model_here integer[], hands integer, OUT admitted boolean, OUT here_starts boolean, OUT rate_users text[], OUT rate_limits integer[], OUT rate_requests integer[], OUT rate_reset_ms bigint[], OUT ended_n integer[], OUT grants json, OUT wake boolean, OUT jobs json)
 RETURNS record
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  now_ms bigint := extract(epoch from clock_timestamp()) * 1000;
  at timestamptz;
  end_users text[]; end_models text[]; ends_count_months boolean := false;
  users_fit boolean; keys_fit boolean; models_fit boolean; runs_fit boolean := true;
  -- How many of each that may start here do: one or none.
  per_here integer; users_have_room boolean; models_have_room boolean;
  keys_have_limits boolean := false; key_months_of date[];
  has_line boolean;
  -- What has ended, by user, key and model.
  gone_users text[]; gone_parallel integer[]; gone_reserved bigint[];
  gone_keys text[]; gone_months date[]; gone_prices bigint[];
  gone_models text[]; gone_started integer[]; gone_waiting integer[]; gone_ended integer[]; gone_queued text[];
  chosen text[]; chosen_users text[]; chosen_models text[];
begin
  -- Runs are locked before wallets, as everywhere.
  if cardinality(run_ids) > 0 then
    perform 1 from runs r where r.id = any (run_ids) order by cardinality(r.ancestors), r.id for share;
    runs_fit := not exists (
      select 1 from unnest(run_ids, ids) as g (run_id, id) where g.run_id is not null and (
        select true from runs r where r.id = g.run_id and r.holder = node and r.call_id = g.id limit 1) is null);
  end if;
  if hands > 0 and exists (select 1 from model_slots where waiting > 0) then
    chosen := choose_jobs(hands);
    select array_agg(distinct l.user_id), array_agg(distinct l.model_id) into chosen_users, chosen_models
    from live_predictions l where l.id = any (chosen);
  end if;
  if cardinality(end_ids) > 0 then
    select array_agg(g.user_id), array_agg(g.model_id), bool_or(g.key_month is not null)
    into end_users, end_models, ends_count_months
    from (select l.user_id, l.model_id, l.key_month from live_predictions l where l.id = any (end_ids) group by 1, 2, 3) g;
  end if;

  -- A row that was waited for is read anew once it is locked, but only that row: what is computed from it must be computed
  -- in the list of columns, not in a joined function.
  select count(g.user_id) = cardinality(user_ids) and coalesce(bool_and(g.user_id is null
      or w.available >= g.reserved
        and (w.per_minute is null or (w.minute).requests + g.requests <= w.per_minute)
        and (g.clients = 0 or w.parallel is null or w.running + g.clients <= w.parallel)), true),
    coalesce(bool_and(g.user_id is null or w.parallel is null or w.running + g.clients + g.here <= w.parallel), true),
    array_agg(w.user_id) filter (where w.per_minute is not null),
    array_agg(w.per_minute) filter (where w.per_minute is not null),
    array_agg((w.minute).requests) filter (where w.per_minute is not null),
    array_agg(coalesce((w.minute).oldest_ms, now_ms) + 60000 - now_ms) filter (where w.per_minute is not null)
  into users_fit, users_have_room, rate_users, rate_limits, rate_requests, rate_reset_ms
  from (
    select wallets.user_id, wallets.balance_micros - wallets.reserved_micros as available, wallets.running,
      p.requests_per_minute as per_minute, p.parallel,
      case when p.requests_per_minute is not null then last_minute(wallets.hits, now_ms) end as minute
    from wallets join users u on u.id = wallets.user_id join plans p on p.name = u.plan
    where wallets.user_id = any (user_ids || end_users || chosen_users) order by wallets.user_id for update of wallets
  ) w left join unnest(user_ids, user_requests, user_clients, user_here, user_reservations)
      as g (user_id, requests, clients, here, reserved)
    on g.user_id = w.user_id;

  if cardinality(ids) > 0 then
    select bool_and(k.id is not null and k.revoked_at is null and u.disabled_at is null
        and (k.expires_at is null or k.expires_at > to_timestamp(now_ms / 1000.0))),
      bool_or(k.monthly_limit_micros is not null)
    into keys_fit, keys_have_limits
    from unnest(key_ids) as g (key_id) left join api_keys k on k.id = g.key_id left join users u on u.id = k.user_id;
  end if;
  if keys_have_limits then
    insert into key_months (key_id, month)
      select id, month_now from api_keys where id = any (key_ids) and monthly_limit_micros is not null order by id
      on conflict do nothing;
  end if;
  if keys_have_limits or ends_count_months then
    perform 1 from key_months m
      where m.key_id = any (key_ids) and m.month = month_now or (m.key_id, m.month) in (
        select l.key_id, l.key_month from live_predictions l where l.id = any (end_ids) and l.key_month is not null)
      order by m.key_id, m.month for update;
    select keys_fit and bool_and(k.monthly_limit_micros is null
        or m.spent_micros + m.reserved_micros + g.reserved < k.monthly_limit_micros),
      array_agg(case when k.monthly_limit_micros is not null then month_now end order by g.i)
    into keys_fit, key_months_of
    from unnest(key_ids, key_reservations) with ordinality as g (key_id, reserved, i)
      left join api_keys k on k.id = g.key_id left join key_months m on m.key_id = g.key_id and m.month = month_now;
  end if;

  select count(g.model_id) = cardinality(model_ids) and coalesce(bool_and(g.model_id is null
      or s.retired_at is null and s.capacity > 0
        and (g.clients = 0 or s.waiting = 0 and s.running + g.clients <= s.capacity)), true),
    coalesce(bool_and(g.model_id is null or s.waiting = 0 and s.running + g.clients + g.here <= s.capacity), true),
    coalesce(bool_or(s.waiting > 0), false)
  into models_fit, models_have_room, has_line
  from (
    select model_slots.model_id, model_slots.running, model_slots.waiting, m.capacity, m.retired_at
    from model_slots join models m on m.id = model_slots.model_id
    where model_slots.model_id = any (model_ids || end_models || chosen_models) order by model_slots.model_id for update of model_slots
  ) s left join unnest(model_ids, model_clients, model_here) as g (model_id, clients, here) on g.model_id = s.model_id;
  at := clock_timestamp();

  if end_users is not null then
    with gone as (
      delete from live_predictions l
      using unnest(end_ids, end_claims, end_statuses, end_inference_ms, end_outputs, end_errors, end_input_tokens,
          end_output_tokens, end_cached_tokens, end_cache_write_tokens, end_stream_details, end_prices) with ordinality
        as g (id, claim, status, inference_ms, output, error, input_tokens, output_tokens, cached_tokens,
          cache_write_tokens, stream_details, price, i)
      where l.id = g.id and l.claim = g.claim and l.webhook_target is null
      returning l.id, l.user_id, l.key_id, l.model_id, l.model_name, l.route, l.created_at, l.started_at,
        l.reserved_micros, l.key_month, l.counts_parallel, g.status, g.inference_ms, g.output, g.error,
        g.input_tokens, g.output_tokens, g.cached_tokens, coalesce(g.cache_write_tokens, 0) as cache_write_tokens,
        g.stream_details, least(g.price, l.reserved_micros) as price, g.i
    ), results as (
      insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
        ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, cache_write_tokens,
        stream_details)
      select id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, at, inference_ms,
        output::json, error::json, input_tokens, output_tokens, cached_tokens, cache_write_tokens, stream_details::json
      from gone
    ), used as (
      insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, inference_ms, input_tokens,
        output_tokens, cached_tokens, cache_write_tokens, reserved_micros, price_micros)
      select id, user_id, key_id, model_name, route, status, at, inference_ms, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, reserved_micros, price
      from gone
    ), charged as (
      insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
      select at, 'charge', 'user:' || user_id, 'platform', price, id from gone where price > 0
    ), summed as (
      select user_id, key_id, key_month, model_id, model_name, count(*)::integer as ended,
        count(*) filter (where price > 0) as paid, sum(price)::bigint as price,
        sum(reserved_micros)::bigint as reserved, count(*) filter (where counts_parallel)::integer as parallel,
        count(started_at)::integer as started
      from gone group by 1, 2, 3, 4, 5
    ), hours as (
      insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
      select user_id, date_trunc('hour', at), model_name, sum(ended), sum(paid), sum(price) from summed group by 1, 3
      on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
        paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros
    )
    select array_agg(user_id), array_agg(-parallel), array_agg(-reserved), array_agg(key_id), array_agg(key_month),
      array_agg(price), array_agg(model_id), array_agg(-started), array_agg(started - ended), array_agg(ended),
      case when sum(ended) is distinct from cardinality(end_ids)
        then coalesce((select array_agg(i::integer - 1) from gone), '{}') end,
      (select array_agg(id) from gone where route = 'async')
    into gone_users, gone_parallel, gone_reserved, gone_keys, gone_months, gone_prices, gone_models, gone_started,
      gone_waiting, gone_ended, ended_n, gone_queued
    from summed;
    -- A notification carries 8000 bytes.
    if gone_queued is not null then
      perform pg_notify('gantry_ended', string_agg(id, ','))
        from (select id, (i - 1) / 200 as part from unnest(gone_queued) with ordinality g (id, i)) parts group by part;
    end if;
  elsif cardinality(end_ids) > 0 then
    ended_n := '{}';
  end if;

  admitted := cardinality(ids) > 0 and runs_fit and users_fit and keys_fit and models_fit;
  here_starts := users_have_room and models_have_room;
  per_here := here_starts::integer;
  if admitted then
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder,
      reserved_micros, counts_parallel, key_month, started_at, queue_until, input, pricing, bounds, base_url,
      webhook_destination, webhook_target)
    select x.id, user_ids[x.u], key_ids[x.k], model_ids[x.m], model_names[x.m], x.route, x.high_priority,
      case when x.starts then node end, x.reservation, x.starts, key_months_of[x.k], case when x.starts then at end,
      at + make_interval(secs => x.seconds), x.input::json, x.pricing::json, x.bounds::json, x.base_url,
      x.webhook_destination, decode(x.webhook_target, 'base64')
    from (
      select *, g.route <> 'async' or g.here and here_starts as starts
      from unnest(ids, user_of, key_of, model_of, routes, priorities, reservations, queue_seconds, hand_free, inputs, pricings,
        bounds, base_urls, webhook_destinations, webhook_targets)
        as g (id, u, k, m, route, high_priority, reservation, seconds, here, input, pricing, bounds, base_url,
          webhook_destination, webhook_target)
    ) x;
    if 'async' = any (routes) then
      insert into model_lines (model_id, user_id, high_priority)
        select distinct model_ids[x.m], user_ids[x.u], x.high_priority
        from unnest(user_of, model_of, routes, priorities, hand_free) as x (u, m, route, high_priority, here)
        where x.route = 'async' and not (x.here and here_starts) on conflict do nothing;
    end if;
  else
    user_ids := '{}'; user_requests := '{}'; user_clients := '{}'; user_here := '{}'; user_reservations := '{}';
    model_ids := '{}'; model_arrivals := '{}'; model_clients := '{}'; model_here := '{}';
  end if;
  -- Of the lists that are chained here, a shorter one belongs to the first part; what has none is null.
  update wallets w set running = w.running + d.running, reserved_micros = w.reserved_micros + d.reserved,
    hits = case when d.requests > 0 and r.per_minute is not null
      then add_hits(w.hits, now_ms, d.requests, r.per_minute) else w.hits end
  from (
    select user_id, (sum(running) + per_here * coalesce(sum(here), 0))::integer as running,
      sum(reserved)::bigint as reserved, sum(requests)::integer as requests
    from unnest(user_ids || gone_users, user_clients || gone_parallel, user_reservations || gone_reserved, user_requests,
      user_here) as g (user_id, running, reserved, requests, here)
    group by 1
  ) d left join unnest(rate_users, rate_limits) as r (user_id, per_minute) on r.user_id = d.user_id
  where w.user_id = d.user_id and (d.running <> 0 or d.reserved <> 0 or r.per_minute is not null and d.requests > 0);
  if keys_have_limits or ends_count_months then
    update key_months m set reserved_micros = m.reserved_micros + d.reserved, spent_micros = m.spent_micros + d.spent
    from (
      select key_id, month, sum(reserved)::bigint as reserved, coalesce(sum(spent), 0)::bigint as spent
      from unnest(gone_keys || case when admitted then key_ids end, gone_months || case when admitted then key_months_of end,
        gone_reserved || case when admitted then key_reservations end, gone_prices) as g (key_id, month, reserved, spent)
      where month is not null group by 1, 2
    ) d
    where m.key_id = d.key_id and m.month = d.month;
  end if;
  update model_slots s set running = s.running + d.running, waiting = s.waiting + d.waiting
  from (
    select model_id, (sum(running) + per_here * coalesce(sum(here), 0))::integer as running,
      (coalesce(sum(waiting), 0) + coalesce(sum(arrivals) - sum(clients) - per_here * sum(here), 0))::integer as waiting
    from unnest(model_ids || gone_models, model_clients || gone_started, model_arrivals, model_clients, model_here,
      array_fill(null::integer, array[cardinality(model_ids)]) || gone_waiting)
      as g (model_id, running, arrivals, clients, here, waiting)
    group by 1
  ) d
  where s.model_id = d.model_id and (d.running <> 0 or d.waiting <> 0);
  insert into model_flow as f (model_id, second, ended, accepted)
    select model_id, extract(epoch from at)::bigint, coalesce(sum(ended), 0), coalesce(sum(accepted), 0)
    from (
      select unnest(gone_models) as model_id, unnest(gone_ended) as ended, 0 as accepted
      union all select unnest(model_ids), 0, unnest(model_arrivals)
    ) g
    group by 1
    on conflict (model_id, second) do update set ended = f.ended + excluded.ended,
      accepted = f.accepted + excluded.accepted;

  if cardinality(chosen) > 0 then
    select json_agg(json_build_object('id', j.id, 'claim', j.claim, 'userId', j.user_id, 'modelId', j.model_id,
      'modelName', j.model_name, 'input', j.input, 'pricing', j.pricing, 'bounds', j.bounds, 'acceptedAt', j.created_at,
      'waitedMs', extract(epoch from j.started_at - j.created_at)::float8 * 1000,
      'hasWebhook', j.webhook_target is not null,
      'trace', (select t.trace from prediction_traces t where t.prediction_id = j.id)))
    into jobs from take_jobs(node, chosen, hands) j;
  end if;
  wake := false;
  if gone_users is not null and (has_line
    or exists (select 1 from live_predictions
      where user_id = any (gone_users) and user_id > '' and started_at is null and holder is null)
    or exists (select 1 from live_predictions where route = 'agent' and started_at is null)
  ) then
    select h.grants, h.wake into grants, wake from hand_on_slots(gone_models, gone_users) h;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION write_predictions(end_ids text[], end_claims integer[], end_statuses integer[], end_inference_ms integer[], end_outputs text[], end_errors text[], end_input_tokens integer[], end_output_tokens integer[], end_cached_tokens integer[], end_stream_details text[], end_prices bigint[], ids text[], user_of integer[], key_of integer[], model_of integer[], routes text[], priorities boolean[], reservations bigint[], queue_seconds double precision[], node text, run_ids text[], hand_free boolean[], inputs text[], pricings text[], base_urls text[], webhook_destinations text[], webhook_targets text[], user_ids text[], user_requests integer[], user_clients integer[], user_here integer[], user_reservations bigint[], key_ids text[], key_reservations bigint[], month_now date, model_ids text[], model_names text[], model_arrivals integer[], model_clients integer[], model_here integer[], hands integer, OUT admitted boolean, OUT here_starts boolean, OUT rate_users text[], OUT rate_limits integer[], OUT rate_requests integer[], OUT rate_reset_ms bigint[], OUT ended_n integer[], OUT grants json, OUT wake boolean, OUT jobs json)
 RETURNS record
 LANGUAGE sql
AS $function$
  select * from write_predictions(
    end_ids, end_claims, end_statuses, end_inference_ms, end_outputs, end_errors, end_input_tokens,
    end_output_tokens, end_cached_tokens, null, end_stream_details, end_prices, ids, user_of, key_of, model_of,
    routes, priorities, reservations, queue_seconds, node, run_ids, hand_free, inputs, pricings, null,
    base_urls, webhook_destinations, webhook_targets, user_ids, user_requests, user_clients, user_here,
    user_reservations, key_ids, key_reservations, month_now, model_ids, model_names, model_arrivals,
    model_clients, model_here, hands)
$function$;

CREATE OR REPLACE FUNCTION write_runs(changes json)
 RETURNS json
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
AS $function$
declare
  c json; plain json;
  run runs; parent runs;
  chain text[]; selling text[]; answers json[] := '{}';
  used record; ending json; wake boolean; room bigint; spare bigint; more bigint; holds boolean; sold timestamptz;
  waits boolean; one record;
begin
  -- All locks before the first change, in the one order; the end of a run is the end of what it started too.
  with changed as (
    select r.id, r.ancestors, json_typeof(e -> 'end') = 'object' as ends
    from json_array_elements(changes) e join runs r on r.id = e ->> 'id'
  )
  select array_agg(t.id) into chain from (
    select unnest(g.ancestors || g.id) as id from changed g
    union
    select b.id from changed g join runs b on b.ancestors[1] = coalesce(g.ancestors[1], g.id)
    where g.ends and cardinality(b.ancestors) > 0 and g.id = any (b.ancestors) and b.status in ('pending', 'running')
  ) t;
  perform 1 from runs r where r.id = any (chain) order by cardinality(r.ancestors), r.id for update;
  select array_agg(r.id) into selling from json_array_elements(changes) e join runs r on r.id = e ->> 'id'
  where json_typeof(e -> 'end') = 'object' and r.price_micros > 0;
  if selling is not null then
    perform 1 from wallets w where w.user_id in (
      select unnest(array[r.user_id, r.owner_id]) from runs r where r.id = any (selling)) order by w.user_id for update;
    perform 1 from key_months m where (m.key_id, m.month) in (
      select r.key_id, r.key_month from runs r where r.id = any (selling)) order by m.key_id, m.month for update;
  end if;

  plain := coalesce(write_plain_changes(changes), '[]');
  for c in
    select e from json_array_elements(changes) with ordinality g (e, o)
    where (e ->> 'n')::int not in (select (p ->> 'n')::int from json_array_elements(plain) p) order by o
  loop
    wake := false;
    select * into run from runs r where r.id = c ->> 'id';
    chain := run.ancestors || run.id;
    if run.claim = (c ->> 'claim')::int and run.writes = (c ->> 'seq')::int + 1 then
      select min(r.max_cost_micros - r.cost_micros - r.due_micros),
        min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) into room, spare
      from runs r where r.id = any (chain);
      answers := answers || json_build_object('n', c -> 'n', 'written', true, 'cancel', run.cancel_requested, 'room', room,
        'spare', spare, 'held', run.own_held_micros = coalesce((c ->> 'hold')::bigint, 0), 'wake', true);
      continue;
    end if;
    if run.id is null or run.claim <> (c ->> 'claim')::int or run.writes <> (c ->> 'seq')::int
      or run.holder is distinct from c ->> 'holder' or run.status in ('done', 'error') then
      answers := answers || json_build_object('n', c -> 'n', 'written', false, 'cancel', false, 'room', null,
        'spare', null, 'held', false, 'wake', false);
      continue;
    end if;
    ending := case when json_typeof(c -> 'end') = 'object' then c -> 'end' end;

    if c -> 'step' is not null then
      insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens,
        cached_tokens, cache_write_tokens, cost_micros)
      select run.id, s.n, s.kind, s.message, s.prompt, s.prediction_id, s.input_tokens, s.output_tokens,
        s.cached_tokens, coalesce(s.cache_write_tokens, 0), s.cost_micros
      from json_to_record(c -> 'step') as s (n int, kind text, message json, prompt text, prediction_id text,
        input_tokens int, output_tokens int, cached_tokens int, cache_write_tokens int, cost_micros bigint);
    end if;
    if c -> 'calls' is not null then
      insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, child_id, result, is_error,
        started_at, ended_at)
      select run.id, k.step, k.position, k.call_id, k.tool, k.arguments, k.kind, k.status, k.child_id, k.result, k.is_error,
        case when k.status = 'started' then clock_timestamp() end, case when k.status = 'ended' then clock_timestamp() end
      from json_to_recordset(c -> 'calls') as k (step int, position int, call_id text, tool text, arguments json,
        kind text, status text, child_id text, result text, is_error boolean);
    end if;
    if c -> 'starts' is not null then
      update run_calls k set status = 'started', started_at = clock_timestamp()
      from json_to_recordset(c -> 'starts') as s (step int, position int)
      where k.run_id = run.id and k.step = s.step and k.position = s.position and k.status = 'asking';
    end if;
    if c -> 'ends' is not null then
      update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = e.result, is_error = e.is_error
      from json_to_recordset(c -> 'ends') as e (step int, position int, result text, is_error boolean)
      where k.run_id = run.id and k.step = e.step and k.position = e.position and k.status <> 'ended';
    end if;
    if c -> 'confirmations' is not null then
      insert into run_confirmations (id, run_id, root_id, step, position, tool, arguments, details, arguments_hash, expires_at)
      select q.id, run.id, chain[1], q.step, q.position, q.tool, q.arguments, q.details, q.hash,
        clock_timestamp() + make_interval(secs => q.seconds)
      from json_to_recordset(c -> 'confirmations') as q (id text, step int, position int, tool text, arguments json,
        details json, hash text, seconds double precision);
    end if;
    if c -> 'secrets' is not null then
      insert into run_secrets (id, run_id, field, sealed, expires_at)
      select s.id, chain[1], s.field, decode(s.sealed, 'base64'), clock_timestamp() + make_interval(secs => s.seconds)
      from json_to_recordset(c -> 'secrets') as s (id text, field text, sealed text, seconds double precision);
    end if;
    if c -> 'events' is not null then
      perform append_events(run.id, c -> 'events');
      -- Whoever watches the run that a person started sees every question, from however deep it comes.
      perform append_events(above.id, asked.events)
      from unnest(run.ancestors) as above (id), lateral (
        select json_agg(e) as events from json_array_elements(c -> 'events') e where e ->> 'type' = 'confirmation_required'
      ) asked where asked.events is not null;
    end if;

    select coalesce(sum(u.input_tokens), 0) as input_tokens, coalesce(sum(u.output_tokens), 0) as output_tokens,
      coalesce(sum(u.cached_tokens), 0) as cached_tokens, coalesce(sum(u.cache_write_tokens), 0) as cache_write_tokens,
      coalesce(sum(u.cost_micros), 0) as cost_micros into used
    from (
      select * from json_to_record(coalesce(c -> 'step', '{}')) as s (input_tokens bigint, output_tokens bigint,
        cached_tokens bigint, cache_write_tokens bigint, cost_micros bigint)
      union all
      select * from json_to_record(coalesce(c -> 'cost', '{}')) as s (input_tokens bigint, output_tokens bigint,
        cached_tokens bigint, cache_write_tokens bigint, cost_micros bigint)
    ) u;
    -- An answer or the end of a child may have come while it was on its way to rest.
    waits := case c ->> 'park'
      when 'confirmation' then exists (select 1 from run_confirmations q where q.run_id = run.id and q.status = 'pending')
      when 'children' then exists (select 1 from run_calls k where k.run_id = run.id and k.kind = 'agent' and k.status = 'started'
        and not exists (select 1 from runs child where child.id = k.child_id and child.status in ('done', 'error')))
      else false end and not run.cancel_requested;
    update runs r set
      writes = r.writes + 1,
      phase = case when ending is not null then 'ended'
        when c ->> 'park' is null then coalesce(c ->> 'phase', r.phase)
        when waits and asks_below(r.id, chain[1]) then 'awaiting_confirmation' else 'working' end,
      call_id = coalesce(c ->> 'call_id', r.call_id),
      cut_before = coalesce((c ->> 'cut_before')::int, r.cut_before),
      steps = coalesce((c #>> '{step,n}')::int, r.steps),
      active_ms = r.active_ms + coalesce((c ->> 'active_ms')::bigint, 0),
      deaths = case when c -> 'step' is not null or c -> 'ends' is not null then 0 else r.deaths end,
      holder = case when ending is not null or waits or c ->> 'park' is not null or (c ->> 'release')::boolean then null else r.holder end,
      parked = waits,
      parked_at_ms = r.active_ms + coalesce((c ->> 'active_ms')::bigint, 0),
      status = coalesce(ending ->> 'status', r.status),
      output = coalesce(ending -> 'output', r.output),
      error = coalesce(ending -> 'error', r.error),
      completed_at = case when ending is not null then clock_timestamp() end
    where r.id = run.id;
    wake := not waits and ending is null and (c ->> 'park' is not null or coalesce((c ->> 'release')::boolean, false));
    if used.cost_micros > 0 or used.input_tokens > 0 or used.output_tokens > 0 then
      update runs r set cost_micros = r.cost_micros + used.cost_micros, input_tokens = r.input_tokens + used.input_tokens,
        output_tokens = r.output_tokens + used.output_tokens, cached_tokens = r.cached_tokens + used.cached_tokens,
        cache_write_tokens = r.cache_write_tokens + used.cache_write_tokens
      where r.id = any (chain);
    end if;
    if waits then perform show_waiting(run.ancestors, chain[1]); end if;

    -- Whoever rests or ends has nothing under way.
    more := case when ending is not null or waits or c ->> 'park' is not null or coalesce((c ->> 'release')::boolean, false)
      then 0 else coalesce((c ->> 'hold')::bigint, run.own_held_micros) end - run.own_held_micros;
    select coalesce(min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) >= more, true) or more <= 0 into holds
    from runs r where r.id = any (chain);
    if more <> 0 and holds then
      update runs r set held_micros = r.held_micros + more,
        own_held_micros = r.own_held_micros + case when r.id = run.id then more else 0 end
      where r.id = any (chain);
    end if;

    if ending is not null then
      if run.price_micros > 0 then
        sold := clock_timestamp();
        update runs r set due_micros = r.due_micros - run.price_micros where r.id = any (chain);
        if run.key_month is not null then
          update key_months m set reserved_micros = m.reserved_micros - run.price_micros, spent_micros = m.spent_micros
            + case when ending ->> 'status' = 'done' then run.price_micros else 0 end
          where m.key_id = run.key_id and m.month = run.key_month;
        end if;
        update wallets w set reserved_micros = w.reserved_micros - run.price_micros where w.user_id = run.user_id;
        if ending ->> 'status' = 'done' then
          insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference)
            values (sold, 'sale', 'user:' || run.user_id, 'user:' || run.owner_id, run.price_micros, run.id);
          insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, reserved_micros,
            price_micros)
            values (run.id, run.user_id, run.key_id, run.sale_name, 'agent', 200, sold, run.price_micros,
              run.price_micros);
          insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
            values (run.user_id, date_trunc('hour', sold), run.sale_name, 1, 1, run.price_micros)
            on conflict (user_id, hour, model_name) do update set requests = h.requests + 1,
              paid_requests = h.paid_requests + 1, spent_micros = h.spent_micros + excluded.spent_micros;
          update runs r set cost_micros = r.cost_micros + run.price_micros where r.id = any (chain);
        end if;
      end if;
      for one in
        update run_confirmations q set status = 'expired', resolved_at = clock_timestamp(), reason = 'The run has ended'
        where q.run_id = run.id and q.status = 'pending' returning q.id, q.tool, q.status, q.reason
      loop
        perform append_events(above.id, resolved_event(one.id, one.tool, one.status, one.reason))
        from unnest(run.ancestors) as above (id);
      end loop;
      for one in
        update runs r set cancel_requested = true, parked = false
        where r.ancestors[1] = chain[1] and cardinality(r.ancestors) > 0 and run.id = any (r.ancestors)
          and r.status in ('pending', 'running') and not r.cancel_requested returning r.id
      loop
        perform pg_notify('gantry_run_cancel', one.id);
        wake := true;
      end loop;
      if cardinality(run.ancestors) > 0 then
        select * into parent from runs r where r.id = run.ancestors[cardinality(run.ancestors)];
        update run_calls k set status = 'ended', ended_at = clock_timestamp(), result = ending ->> 'told',
          is_error = (ending ->> 'told_error')::boolean
        where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position and k.status <> 'ended';
        if found and parent.status = 'running' then
          perform append_events(parent.id, json_build_array(json_build_object('type', 'tool_result', 'data',
            json_build_object('tool', k.tool, 'result', k.result, 'call_id', shown_call_id(k.run_id, k.step, k.position)))))
          from run_calls k where k.run_id = parent.id and k.step = run.parent_step and k.position = run.parent_position;
        end if;
        -- What works side by side shares the parent's time, it does not add up: a child was given what was left of it, so
        -- the parent is as far as the child is on that way, or farther where it was itself at work for longer.
        update runs r set active_ms = greatest(r.active_ms, r.timeout_ms - run.timeout_ms + run.active_ms
            + coalesce((c ->> 'active_ms')::bigint, 0)),
          parked = exists (select 1 from run_calls k where k.run_id = r.id
            and (k.status = 'started' and k.kind = 'agent' or k.status = 'asking' and exists (
              select 1 from run_confirmations q where q.run_id = r.id and q.status = 'pending')))
        where r.id = parent.id and r.parked;
        wake := wake or found;
        perform show_waiting(run.ancestors, chain[1]);
      end if;
      perform pg_notify('gantry_run_ended', run.id);
    end if;

    select min(r.max_cost_micros - r.cost_micros - r.due_micros),
      min(r.max_cost_micros - r.cost_micros - r.due_micros - r.held_micros) into room, spare
    from runs r where r.id = any (chain);
    answers := answers || json_build_object('n', c -> 'n', 'written', true, 'cancel', run.cancel_requested, 'room', room,
      'spare', spare, 'held', holds, 'wake', wake);
  end loop;
  return (select json_agg(one_of) from (
    select p as one_of from json_array_elements(plain) p union all select unnest(answers)) answered);
end $function$;

create trigger models_note_names before insert or update of manifest on models
  for each row execute function note_model_names();
create trigger files_count_change after update of size on files
  for each row when (new.origin <> 'output' and new.size is distinct from old.size) execute function count_upload();
create trigger files_count_end after delete on files
  for each row when (old.origin <> 'output' and old.size is not null) execute function count_upload();
create trigger files_link_begin after insert on files
  for each row when (new.origin = 'link') execute function note_open_link();
create trigger files_link_end after delete on files
  for each row when (old.origin = 'link') execute function note_open_link();
create trigger drive_items_count_new after insert on drive_items
  referencing new table as added for each statement execute function count_drive_items();
create trigger drive_items_count_change after update on drive_items
  referencing old table as removed new table as added for each statement execute function count_drive_items();
create trigger drive_items_count_end after delete on drive_items
  referencing old table as removed for each statement execute function count_drive_items();
create trigger drives_count_end before delete on drives
  for each row execute function count_deleted_drive();
create trigger ledger_is_append_only before update or delete on ledger
  for each row execute function refuse_change();
create trigger ledger_is_not_emptied before truncate on ledger
  for each statement execute function refuse_change();
create trigger users_have_wallets after insert on users for each row execute function give_wallet();
create trigger ledger_moves_wallets after insert on ledger
  referencing new table as added for each statement execute function apply_to_wallets();
create trigger wallets_follow_the_ledger before update of balance_micros on wallets
  for each row when (old.balance_micros is distinct from new.balance_micros)
  execute function refuse_balance_by_hand();
create trigger closed_days_get_late_usage after insert on usage
  referencing new table as added for each statement execute function add_to_closed_days();
create trigger agents_note_names before insert or update of published_revision_id on agents
  for each row execute function note_agent_names();
create trigger runs_do_not_rest_out_of_time before update of active_ms, parked on runs
  for each row when (new.parked and new.active_ms >= new.timeout_ms and new.status = 'running')
  execute function wake_out_of_time();
create trigger runs_tell_of_questions after update of phase on runs
  for each row when (new.phase = 'awaiting_confirmation' and old.phase <> 'awaiting_confirmation')
  execute function tell_of_question();
create trigger runs_end_after_they_began before update of completed_at on runs
  for each row when (new.completed_at < new.created_at) execute function end_no_sooner();

set session_replication_role = replica;
create table usage_2026_11 partition of usage FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');
create table usage_2026_12 partition of usage FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');
create table usage_2027_01 partition of usage FOR VALUES FROM ('2027-01-01 00:00:00+00') TO ('2027-02-01 00:00:00+00');
insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at) overriding system value values
('rev_01m7ng0rnycg4haz0je8kj0pgz', 'agt_01m7ng0rnycg4gspfw3qw4m9xq', '1', 'published', '{"name":"ASKING","goal":"ASKING","tools":[{"type":"tool","id":"run_javascript","confirm":"always"}],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[]', '2026-11-17 19:33:53.47+00'),
('rev_01m7ng0rr17j6aaa0skxa06xg3', 'agt_01m7ng0rr17j69ddt53pw8a60y', '1', 'published', '{"name":"TOOL","goal":"TOOL","tools":[{"type":"tool","id":"run_javascript"}],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[]', '2026-11-17 19:33:53.537+00'),
('rev_01m7ng0rsc8fq6ah5nsdzjxvkp', 'agt_01m7ng0rsc8fq5gyb29mx13e93', '1', 'published', '{"name":"PARENT","goal":"PARENT","tools":[{"type":"agent","agent_id":"agt_01m7ng0rr17j69ddt53pw8a60y","name":"child"}],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[]', '2026-11-17 19:33:53.58+00'),
('rev_01m7ng0rv9bd7rbvm1c3c4xxec', 'agt_01m7ng0rv9bd7q6fgtaqw13pnm', '1', 'published', '{"name":"SLOW","goal":"SLOW","tools":[],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[]', '2026-11-17 19:33:53.641+00'),
('rev_01m7ng0rx85hajpf7829emdrfh', 'agt_01m7ng0rx85hahsart3hr2jafv', '1', 'published', '{"name":"PLAIN market","goal":"PLAIN market","tools":[],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0.25},"context_compression":true}', '[]', '2026-11-17 19:33:53.704+00'),
('rev_01m7ng0rypftne2r9nrsbtxzrr', 'agt_01m7ng0rypftnd4r9jy7kca6qk', '1', 'published', '{"name":"PLAIN sponsored","goal":"PLAIN sponsored","tools":[],"model":"alice/own","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[{"field":"model","message":"Runs by other users use your private model alice/own at your expense"}]', '2026-11-17 19:33:53.75+00'),
('rev_01m7ng0s0md9k70ba91m63g0dg', 'agt_01m7ng0s0md9k66nee2s314xvq', '1', 'published', '{"name":"PLAIN deleted","goal":"PLAIN deleted","tools":[],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{},"drives":[],"mcp_servers":[],"pricing":{"per_run":0},"context_compression":true}', '[]', '2026-11-17 19:33:53.812+00'),
('rev_01m7ng0s1t567g0bs72bdg3cpf', 'agt_01m7ng0rx85hahsart3hr2jafv', '2', 'draft', '{"name":"PLAIN market","goal":"PLAIN market","tools":[],"model":"admin/llm","input_schema":{"type":"object"},"output_schema":null,"instructions":{"tool_calling":"More."},"drives":[],"mcp_servers":[],"pricing":{"per_run":0.25},"context_compression":true}', '[]', '2026-11-17 19:33:53.85+00');
insert into agents (id, owner_id, slug, visibility, latest_revision_id, published_revision_id, published_at, created_at, updated_at, deleted_at, search_text, taken_down) overriding system value values
('agt_01m7ng0rnycg4gspfw3qw4m9xq', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'asking', 'private', 'rev_01m7ng0rnycg4haz0je8kj0pgz', 'rev_01m7ng0rnycg4haz0je8kj0pgz', '2026-11-17 19:33:53.514+00', '2026-11-17 19:33:53.47+00', '2026-11-17 19:33:53.514+00', NULL, 'alice/asking asking', NULL),
('agt_01m7ng0rr17j69ddt53pw8a60y', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'tool', 'private', 'rev_01m7ng0rr17j6aaa0skxa06xg3', 'rev_01m7ng0rr17j6aaa0skxa06xg3', '2026-11-17 19:33:53.566+00', '2026-11-17 19:33:53.537+00', '2026-11-17 19:33:53.566+00', NULL, 'alice/tool tool', NULL),
('agt_01m7ng0rsc8fq5gyb29mx13e93', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'parent', 'private', 'rev_01m7ng0rsc8fq6ah5nsdzjxvkp', 'rev_01m7ng0rsc8fq6ah5nsdzjxvkp', '2026-11-17 19:33:53.624+00', '2026-11-17 19:33:53.58+00', '2026-11-17 19:33:53.624+00', NULL, 'alice/parent parent', NULL),
('agt_01m7ng0rv9bd7q6fgtaqw13pnm', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'slow', 'private', 'rev_01m7ng0rv9bd7rbvm1c3c4xxec', 'rev_01m7ng0rv9bd7rbvm1c3c4xxec', '2026-11-17 19:33:53.693+00', '2026-11-17 19:33:53.641+00', '2026-11-17 19:33:53.693+00', NULL, 'alice/slow slow', NULL),
('agt_01m7ng0rx85hahsart3hr2jafv', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'plain-market', 'public', 'rev_01m7ng0s1t567g0bs72bdg3cpf', 'rev_01m7ng0rx85hajpf7829emdrfh', '2026-11-17 19:33:53.735+00', '2026-11-17 19:33:53.704+00', '2026-11-17 19:33:53.85+00', NULL, 'alice/plain-market plain market', NULL),
('agt_01m7ng0rypftnd4r9jy7kca6qk', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'plain-sponsored', 'public', 'rev_01m7ng0rypftne2r9nrsbtxzrr', 'rev_01m7ng0rypftne2r9nrsbtxzrr', '2026-11-17 19:33:53.801+00', '2026-11-17 19:33:53.75+00', '2026-11-17 19:33:53.801+00', NULL, 'alice/plain-sponsored plain sponsored', NULL),
('agt_01m7ng0s0md9k66nee2s314xvq', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'plain-deleted', 'private', 'rev_01m7ng0s0md9k70ba91m63g0dg', 'rev_01m7ng0s0md9k70ba91m63g0dg', '2026-11-17 19:33:53.83+00', '2026-11-17 19:33:53.812+00', '2026-11-17 19:33:53.83+00', '2026-11-17 19:33:53.836+00', 'alice/plain-deleted plain deleted', NULL);
insert into api_keys (id, user_id, public, secret_hash, name, expires_at, models, monthly_limit_micros, created_at, last_used_at, revoked_at, session_ends_at) overriding system value values
('key_01m7ng0cb33p8gh4rffhfbkhcc', 'usr_01m7ng0caz0vyqnhjg9yss436k', '166be3fe6239', E'\\x166be3fe623908f467b07e923f28a7b1a24e8995f232cd0a2463ca5dde8af06f', 'admin', NULL, NULL, NULL, '2026-11-17 19:33:40.823+00', '2026-11-17 19:33:43.74+00', NULL, NULL),
('key_01m7ng0dnm7vx21j5rrh1x2db4', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'r68mm3a1ed2x', E'\\x7f09115fe32bbe444d59f9165810ff24c7e1ebb78d663bc0b524ac44bd6ca1b5', 'main', NULL, NULL, NULL, '2026-11-17 19:33:42.196+00', '2026-11-17 19:33:45.314+00', NULL, NULL),
('key_01m7ng0fksbk86swrse0gbvhen', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', '6sm2x9qfkzyp', E'\\xa086b9c80aa6502ce4b09ddb20a06cb6e1630f759add5c3379914e1ac973d968', 'main', NULL, NULL, NULL, '2026-11-17 19:33:44.185+00', '2026-11-17 19:33:45.314+00', NULL, NULL),
('key_01m7ng0fns5cymsjkf6pswzrd1', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', '1x33zm199da4', E'\\x4d8eb4a31adfb1db51374c43f119f54dae1efd21ca94649ea061df8adea0e718', 'main', NULL, NULL, NULL, '2026-11-17 19:33:44.249+00', '2026-11-17 19:33:48.737+00', NULL, NULL),
('key_01m7ng0fqtfh8jsntkexathj7x', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'b0rx8c0048hb', E'\\x555ba560212f5a3f710123bb0e165f33d9be5ace1ad0e5c6ce0117645e5ca24d', 'rotated', NULL, NULL, NULL, '2026-11-17 19:33:44.314+00', NULL, NULL, NULL),
('key_01m7ng0fyt45zxjb61fk08pr68', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'rkd1kcs0r78m', E'\\xed92354f5671d191951595460f9f2c6847f94dc42f36ee2aae8f877cc3ee8d9e', 'limited', NULL, '{admin/make,admin/say}', '1000000', '2026-11-17 19:33:44.538+00', '2026-11-17 19:33:50.244+00', NULL, NULL);
insert into clock_marks (only_one, trusted_until, steady_ms) overriding system value values
('true', '2026-11-17 19:33:59.388+00', '0');
insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at) overriding system value values
('drv_01m7ng0qx7adhhqf6cm7h9nw8j', '/a', '/', 'directory', NULL, NULL, NULL, NULL, '2026-11-17 19:33:52.712+00', '2026-11-17 19:33:52.712+00'),
('drv_01m7ng0qx7adhhqf6cm7h9nw8j', '/a/b.txt', '/a', 'file', 'drives/file_01m7ng0qxv7fyv9en0fy4k4azb', '16', 'text/plain; charset=utf-8', 'f8e45751594df65966212a1ba0fe12e5-1', '2026-11-17 19:33:52.712+00', '2026-11-17 19:33:52.712+00'),
('drv_01m7ng0qx7adhhqf6cm7h9nw8j', '/a/c.txt', '/a', 'file', 'drives/file_01m7ng0qytbyqnc3g4n8p43gtc', '16', 'text/plain; charset=utf-8', 'f4a05f5e264c561d1e117aca7e00ba00-1', '2026-11-17 19:33:52.737+00', '2026-11-17 19:33:52.737+00');
insert into drive_loose_blobs (key, collect_after, is_doomed) overriding system value values
('drives/file_01m7ng0r192ymz517rd41dxnf8', '2026-11-17 19:33:52.84+00', 'false');
insert into drives (id, owner_id, name, description, created_at) overriding system value values
('drv_01m7ng0qx7adhhqf6cm7h9nw8j', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'Papers', NULL, '2026-11-17 19:33:52.679+00');
insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at, ended_at, inference_ms, output, error, input_tokens, output_tokens, cached_tokens, stream_details, said, cache_write_tokens) overriding system value values
('pred_01m7ng0fz66fkkb0f28axh232b', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.613395+00', '2026-11-17 19:33:44.613392+00', '2026-11-17 19:33:44.645336+00', '18', '{"output":"made of s0"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0g3248fhz08vhdsx1a91', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.682184+00', '2026-11-17 19:33:44.682182+00', '2026-11-17 19:33:44.707831+00', '15', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0g491zettw8m2hhr34x7', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.715941+00', '2026-11-17 19:33:44.715345+00', '2026-11-17 19:33:44.728772+00', '4', '{"output":"made of s1"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0g510vt2qmsjeng3qc4z', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.738867+00', '2026-11-17 19:33:44.738794+00', '2026-11-17 19:33:44.756964+00', '8', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0g63a785m96k8j5ax2r9', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.772981+00', '2026-11-17 19:33:44.772906+00', '2026-11-17 19:33:44.781729+00', '4', '{"output":"made of s2"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0g6r01yhyx2wt6r7nz45', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.794209+00', '2026-11-17 19:33:44.794132+00', '2026-11-17 19:33:44.814148+00', '9', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0g7k1dk9r337eqdsyssx', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_5', 'admin/make', 'sync', '502', '2026-11-17 19:33:44.820584+00', '2026-11-17 19:33:44.820509+00', '2026-11-17 19:33:45.950262+00', '1103', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed (status 500)","ctx":{"upstream_status":500}}]', NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0hdk9b3tgm8n3jyj2bfk', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_7', 'admin/say', 'stream', '502', '2026-11-17 19:33:46.038437+00', '2026-11-17 19:33:46.037784+00', '2026-11-17 19:33:46.07289+00', '7', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed or cut its answer short"}]', NULL, NULL, NULL, NULL, '[{"claim" : 1, "seq" : 1, "field" : "output", "fragment" : "word0 word1 "}]', '0'),
('pred_01m7ng0hge1r2dfye2pqtdxv2n', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.129353+00', '2026-11-17 19:33:46.129264+00', '2026-11-17 19:33:46.15479+00', '10', '{"output":"made of s0"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0hjpdzrkm3654n9d9vn3', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.200366+00', '2026-11-17 19:33:46.200282+00', '2026-11-17 19:33:46.23903+00', '25', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0hm62kpr6r8d38b6krj8', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.247988+00', '2026-11-17 19:33:46.247918+00', '2026-11-17 19:33:46.26506+00', '3', '{"output":"made of s1"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0hnmf5s7dm0mfztzyt8m', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.294498+00', '2026-11-17 19:33:46.294424+00', '2026-11-17 19:33:46.323153+00', '20', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0hq3cdnesg7p5f52p3cn', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.366091+00', '2026-11-17 19:33:46.365343+00', '2026-11-17 19:33:46.401283+00', '10', '{"output":"made of s2"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0hspezxzvj4vyvahw8aq', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.432886+00', '2026-11-17 19:33:46.432799+00', '2026-11-17 19:33:46.462392+00', '19', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0hvp5t38qq97416jvht2', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'sync', '502', '2026-11-17 19:33:46.488025+00', '2026-11-17 19:33:46.487955+00', '2026-11-17 19:33:47.693206+00', '1196', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed (status 500)","ctx":{"upstream_status":500}}]', NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0k24bdb4p6rmr5ys4sj2', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_7', 'admin/say', 'stream', '502', '2026-11-17 19:33:47.718134+00', '2026-11-17 19:33:47.718063+00', '2026-11-17 19:33:47.725449+00', '4', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed or cut its answer short"}]', NULL, NULL, NULL, NULL, '[{"claim" : 1, "seq" : 1, "field" : "output", "fragment" : "word0 word1 "}]', '0'),
('pred_01m7ng0k2t1357hqgwa7z9mhx5', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.739185+00', '2026-11-14 19:33:47.739114+00', '2026-11-14 19:33:47.765178+00', '11', '{"output":"made of s0"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0k4g84bwpa5f8kdmsay4', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.795891+00', '2026-11-14 19:33:47.795814+00', '2026-11-14 19:33:47.822742+00', '8', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0k5j2mb2awcfs1pqhtnz', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.8278+00', '2026-11-14 19:33:47.827731+00', '2026-11-14 19:33:47.845178+00', '3', '{"output":"made of s1"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0k6d9zw7tzs0qpwjkmy5', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.855464+00', '2026-11-14 19:33:47.855392+00', '2026-11-14 19:33:47.879818+00', '10', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0k7e3qgtrpf98d6a65na', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.887872+00', '2026-11-14 19:33:47.887802+00', '2026-11-14 19:33:47.900881+00', '3', '{"output":"made of s2"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0k8222zd6v56g4583m3f', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.907973+00', '2026-11-14 19:33:47.907903+00', '2026-11-14 19:33:47.926542+00', '6', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0k8z3ryrnjz96cn8fe92', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_5', 'admin/make', 'sync', '502', '2026-11-14 19:33:47.936261+00', '2026-11-14 19:33:47.936186+00', '2026-11-14 19:33:49.149857+00', '1205', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed (status 500)","ctx":{"upstream_status":500}}]', NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0mfzd57vs2n021ychdtr', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_7', 'admin/say', 'stream', '502', '2026-11-14 19:33:49.188367+00', '2026-11-14 19:33:49.18829+00', '2026-11-14 19:33:49.225777+00', '11', NULL, '[{"type":"downstream_service_error","loc":["body"],"msg":"The service behind the model failed or cut its answer short"}]', NULL, NULL, NULL, NULL, '[{"claim" : 1, "seq" : 1, "field" : "output", "fragment" : "word0 word1 "}]', '0'),
('pred_01m7ng0mhz6vn12n96a4gkrtzr', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fyt45zxjb61fk08pr68', 'mdl_5', 'admin/make', 'sync', '200', '2026-11-17 19:33:49.253678+00', '2026-11-17 19:33:49.253607+00', '2026-11-17 19:33:49.297031+00', '13', '{"output":"made of m"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0mmc012a2y96kthd36qg', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fyt45zxjb61fk08pr68', 'mdl_7', 'admin/say', 'stream', '200', '2026-11-17 19:33:49.328402+00', '2026-11-17 19:33:49.328331+00', '2026-11-17 19:33:49.346313+00', '7', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0mnh3anz9pctvkpdwwpy', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_5', 'admin/make', 'async', '200', '2026-11-17 19:33:49.363727+00', '2026-11-17 19:33:49.363643+00', '2026-11-17 19:33:49.437569+00', '11', '{"output":"made of m"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0mtz3my10sc6cdf2sm96', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_7', 'admin/say', 'async', '200', '2026-11-17 19:33:49.569836+00', '2026-11-17 19:33:49.569123+00', '2026-11-17 19:33:49.619703+00', '16', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0mz57j6xem8m03hpdskz', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'async', '200', '2026-11-17 19:33:49.692526+00', '2026-11-17 19:33:49.688607+00', '2026-11-17 19:33:49.740853+00', '19', '{"output":"made of m"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0n2ydg0q7277y53vj7nj', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_7', 'admin/say', 'async', '200', '2026-11-17 19:33:49.793921+00', '2026-11-17 19:33:49.793806+00', '2026-11-17 19:33:49.872179+00', '35', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0n6v0qt2acrx77srqy76', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fyt45zxjb61fk08pr68', 'mdl_5', 'admin/make', 'async', '200', '2026-11-17 19:33:49.917688+00', '2026-11-17 19:33:49.917609+00', '2026-11-17 19:33:49.945316+00', '5', '{"output":"made of m"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0n8g2f5krfk9hhm4ty7b', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fyt45zxjb61fk08pr68', 'mdl_7', 'admin/say', 'async', '200', '2026-11-17 19:33:49.970243+00', '2026-11-17 19:33:49.970153+00', '2026-11-17 19:33:49.981932+00', '8', '{"output":"word0 word1 word2 word3 word4 "}', NULL, '10', '20', NULL, '{"input_tokens":10,"output_tokens":20}', NULL, '0'),
('pred_01m7ng0n9fbsvqj1jskndf8j6f', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_5', 'admin/make', 'async', '499', '2026-11-17 19:33:50.001028+00', '2026-11-17 19:33:50.000949+00', '2026-11-17 19:33:50.518826+00', '509', NULL, '[{"type":"generation_cancelled","loc":["body"],"msg":"The prediction was cancelled"}]', NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0nva571vvm5c3npz4sgb', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_1', 'gantry/image', 'sync', '200', '2026-11-17 19:33:50.600915+00', '2026-11-17 19:33:50.600912+00', '2026-11-17 19:33:52.462543+00', '1835', '{"image":"s3://gantry/outputs/pred_01m7ng0nva571vvm5c3npz4sgb/file_01m7ng0qnw32v9bqdfjsvpeh0r/image.jpg"}', NULL, NULL, NULL, NULL, NULL, NULL, '0'),
('pred_01m7ng0s3503x3wq2nah544n4h', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:53.977521+00', '2026-11-17 19:33:53.977445+00', '2026-11-17 19:33:54.001281+00', '7', '{"answer":{"text":"","reasoning":"","toolCalls":[{"id":"call_1_0","name":"run_javascript","arguments":{"code":"6 * 7"}}],"stop":"tool_calls"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0s7j1dct9zxt8sf4rxts', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:54.727341+00', '2026-11-17 19:33:54.727265+00', '2026-11-17 19:33:54.744779+00', '7', '{"answer":{"text":"done","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0t3j7ps1q1b77n1xy5tz', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.062114+00', '2026-11-17 19:33:55.062037+00', '2026-11-17 19:33:55.079232+00', '5', '{"answer":{"text":"","reasoning":"","toolCalls":[{"id":"call_3_0","name":"child","arguments":{}}],"stop":"tool_calls"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tapfb1rfzj6pr1yz6k7', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.207907+00', '2026-11-17 19:33:55.207822+00', '2026-11-17 19:33:55.215916+00', '3', '{"answer":{"text":"","reasoning":"","toolCalls":[{"id":"call_4_0","name":"run_javascript","arguments":{"code":"6 * 7"}}],"stop":"tool_calls"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tcq4tfgz85ysc0gtxn0', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.288866+00', '2026-11-17 19:33:55.288777+00', '2026-11-17 19:33:55.305847+00', '4', '{"answer":{"text":"done","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tjp9d45f5rwvhx03z64', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.43017+00', '2026-11-17 19:33:55.430088+00', '2026-11-17 19:33:55.439674+00', '6', '{"answer":{"text":"done","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tn19bk8tm33785en0fq', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.524572+00', '2026-11-17 19:33:55.524482+00', '2026-11-17 19:33:55.534552+00', '4', '{"answer":{"text":"plain","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '190', '0', '{"input_tokens":100,"output_tokens":190,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tqw8g1ewzmz883sk9x5', 'usr_01m7ng0dh5ckcm9mntfngbkpey', NULL, 'mdl_9', 'alice/own', 'agent', '200', '2026-11-17 19:33:55.610197+00', '2026-11-17 19:33:55.610195+00', '2026-11-17 19:33:55.626816+00', '2', '{"answer":{"text":"plain","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '190', '0', '{"input_tokens":100,"output_tokens":190,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0tve69fqaykjh0gpv9fb', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.726009+00', '2026-11-17 19:33:55.725928+00', '2026-11-17 19:33:55.738696+00', '2', '{"answer":{"text":"","reasoning":"","toolCalls":[{"id":"call_9_0","name":"run_javascript","arguments":{"code":"6 * 7"}}],"stop":"tool_calls"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0v3db04jnkbqx6nh600y', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.954454+00', '2026-11-17 19:33:55.954379+00', '2026-11-17 19:33:55.95885+00', '1', '{"answer":{"text":"done","reasoning":"","toolCalls":[],"stop":"end"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0'),
('pred_01m7ng0v4j9j28nydrwpnvtkpx', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', '200', '2026-11-17 19:33:56.002166+00', '2026-11-17 19:33:56.002091+00', '2026-11-17 19:33:56.01588+00', '1', '{"answer":{"text":"","reasoning":"","toolCalls":[{"id":"call_11_0","name":"run_javascript","arguments":{"code":"6 * 7"}}],"stop":"tool_calls"}}', NULL, '100', '20', '0', '{"input_tokens":100,"output_tokens":20,"cached_tokens":0}', NULL, '0');
insert into files (key, id, owner_id, origin, state, content_type, size, etag, max_bytes, prediction_id, created_at, stored_at, key_id) overriding system value values
('outputs/pred_01m7ng0nva571vvm5c3npz4sgb/file_01m7ng0qnw32v9bqdfjsvpeh0r/image.jpg', 'file_01m7ng0qnw32v9bqdfjsvpeh0r', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'output', 'stored', 'image/jpeg', '120044', 'e5aea6f8be5619c272102a5bb4e49c67-1', '524288000', 'pred_01m7ng0nva571vvm5c3npz4sgb', '2026-11-17 19:33:52.446+00', '2026-11-17 19:33:52.456+00', NULL),
('uploads/file_01m7ng0qrp3xz805he2v81yccd/upload.txt', 'file_01m7ng0qrp3xz805he2v81yccd', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'uploaded', 'stored', 'text/plain', '7', 'fe16113c6eb12770b282c89fced8879a-1', '524288000', NULL, '2026-11-17 19:33:52.544+00', '2026-11-17 19:33:52.562+00', 'key_01m7ng0dnm7vx21j5rrh1x2db4'),
('uploads/file_01m7ng0qsw98tx8medfx7v2szs/file', 'file_01m7ng0qsw98tx8medfx7v2szs', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'link', 'stored', 'text/plain; charset=utf-8', '6', 'cac83aa7a97f442f2b586d708cc01d3d-1', '524288000', NULL, '2026-11-17 19:33:52.573+00', '2026-11-17 19:33:52.601+00', 'key_01m7ng0fksbk86swrse0gbvhen'),
('uploads/file_01m7ng0qta3r3zxx2zpk0ngbk2/file', 'file_01m7ng0qta3r3zxx2zpk0ngbk2', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'link', 'awaiting', NULL, NULL, NULL, '524288000', NULL, '2026-11-17 19:33:52.586+00', NULL, 'key_01m7ng0dnm7vx21j5rrh1x2db4');
insert into idempotency_keys (user_id, scope, key, fingerprint, prediction_id, created_at, taken_by) overriding system value values
('usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make key_01m7ng0fyt45zxjb61fk08pr68', 'once', 'sync:form:e9f109c668dcb16a8db3f872c9665f1c7589efa0fe6418339738cf61bb28c96d', 'pred_01m7ng0mhz6vn12n96a4gkrtzr', '2026-11-17 19:33:49.248448+00', 'node_01m7ng0c729gwy250pkxvfbtfv');
insert into key_months (key_id, month, spent_micros, reserved_micros) overriding system value values
('key_01m7ng0fyt45zxjb61fk08pr68', '2026-11-01', '3000', '0');
insert into ledger (id, recorded_at, kind, from_account, to_account, amount_micros, reference, reason) overriding system value values
('1', '2026-11-17 19:33:40.88136+00', 'credit', 'outside', 'user:usr_01m7ng0caz0vyqnhjg9yss436k', '100000000', 'opening:usr_01m7ng0caz0vyqnhjg9yss436k', 'Opening balance'),
('10', '2026-11-17 19:33:44.781729+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0g63a785m96k8j5ax2r9', NULL),
('11', '2026-11-17 19:33:44.814148+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '500', 'pred_01m7ng0g6r01yhyx2wt6r7nz45', NULL),
('12', '2026-11-17 19:33:46.15479+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0hge1r2dfye2pqtdxv2n', NULL),
('13', '2026-11-17 19:33:46.23903+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0hjpdzrkm3654n9d9vn3', NULL),
('14', '2026-11-17 19:33:46.26506+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0hm62kpr6r8d38b6krj8', NULL),
('15', '2026-11-17 19:33:46.323153+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0hnmf5s7dm0mfztzyt8m', NULL),
('16', '2026-11-17 19:33:46.401283+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0hq3cdnesg7p5f52p3cn', NULL),
('17', '2026-11-17 19:33:46.462392+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0hspezxzvj4vyvahw8aq', NULL),
('18', '2026-11-14 19:33:47.765178+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '1000', 'pred_01m7ng0k2t1357hqgwa7z9mhx5', NULL),
('19', '2026-11-14 19:33:47.822742+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '500', 'pred_01m7ng0k4g84bwpa5f8kdmsay4', NULL),
('2', '2026-11-17 19:33:42.14984+00', 'credit', 'outside', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', '10000000', 'credit:usr_01m7ng0caz0vyqnhjg9yss436k:usr_01m7ng0dh5ckcm9mntfngbkpey:7018e65590f3db2449bd54ff2222de7d035f5ff30cee46ec283bd0e935fd29f3', 'gift'),
('20', '2026-11-14 19:33:47.845178+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '1000', 'pred_01m7ng0k5j2mb2awcfs1pqhtnz', NULL),
('21', '2026-11-14 19:33:47.879818+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '500', 'pred_01m7ng0k6d9zw7tzs0qpwjkmy5', NULL),
('22', '2026-11-14 19:33:47.900881+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '1000', 'pred_01m7ng0k7e3qgtrpf98d6a65na', NULL),
('23', '2026-11-14 19:33:47.926542+00', 'charge', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', 'platform', '500', 'pred_01m7ng0k8222zd6v56g4583m3f', NULL),
('24', '2026-11-17 19:33:49.297031+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0mhz6vn12n96a4gkrtzr', NULL),
('25', '2026-11-17 19:33:49.346313+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0mmc012a2y96kthd36qg', NULL),
('26', '2026-11-17 19:33:49.437569+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0mnh3anz9pctvkpdwwpy', NULL),
('27', '2026-11-17 19:33:49.619703+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '500', 'pred_01m7ng0mtz3my10sc6cdf2sm96', NULL),
('28', '2026-11-17 19:33:49.740853+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0mz57j6xem8m03hpdskz', NULL),
('29', '2026-11-17 19:33:49.872179+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0n2ydg0q7277y53vj7nj', NULL),
('3', '2026-11-17 19:33:43.794968+00', 'credit', 'outside', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', '5000000', 'credit:usr_01m7ng0caz0vyqnhjg9yss436k:usr_01m7ng0dq2f5rvfp455ae5ckjc:211d448c34a905c1c00b827370edef5e2727432698cfb77ce624fa3e5bcf25e1', 'gift'),
('30', '2026-11-17 19:33:49.945316+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0n6v0qt2acrx77srqy76', NULL),
('31', '2026-11-17 19:33:49.981932+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '500', 'pred_01m7ng0n8g2f5krfk9hhm4ty7b', NULL),
('32', '2026-11-17 19:33:52.462543+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '30000', 'pred_01m7ng0nva571vvm5c3npz4sgb', NULL),
('33', '2026-11-17 19:33:54.001281+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0s3503x3wq2nah544n4h', NULL),
('34', '2026-11-17 19:33:54.744779+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0s7j1dct9zxt8sf4rxts', NULL),
('35', '2026-11-17 19:33:55.079232+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0t3j7ps1q1b77n1xy5tz', NULL),
('36', '2026-11-17 19:33:55.215916+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0tapfb1rfzj6pr1yz6k7', NULL),
('37', '2026-11-17 19:33:55.305847+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0tcq4tfgz85ysc0gtxn0', NULL),
('38', '2026-11-17 19:33:55.439674+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0tjp9d45f5rwvhx03z64', NULL),
('39', '2026-11-17 19:33:55.534552+00', 'charge', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'platform', '1000', 'pred_01m7ng0tn19bk8tm33785en0fq', NULL),
('4', '2026-11-17 19:33:44.239343+00', 'credit', 'outside', 'user:usr_01m7ng0fmd5848w8pvkbrzyr4h', '2000000', 'credit:usr_01m7ng0caz0vyqnhjg9yss436k:usr_01m7ng0fmd5848w8pvkbrzyr4h:f399e3add7f316afdac6e245b43bafaa97642df71f1ffd3d091abfc28bb80194', 'gift'),
('40', '2026-11-17 19:33:55.543839+00', 'sale', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', '250000', 'run_01m7ng0tn19bk7yb82tfcfwn29', NULL),
('41', '2026-11-17 19:33:55.626816+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0tqw8g1ewzmz883sk9x5', NULL),
('42', '2026-11-17 19:33:55.738696+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0tve69fqaykjh0gpv9fb', NULL),
('43', '2026-11-17 19:33:55.95885+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0v3db04jnkbqx6nh600y', NULL),
('44', '2026-11-17 19:33:56.01588+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0v4j9j28nydrwpnvtkpx', NULL),
('5', '2026-11-17 19:33:44.272272+00', 'correction', 'user:usr_01m7ng0dq2f5rvfp455ae5ckjc', 'outside', '500000', NULL, 'mistake'),
('6', '2026-11-17 19:33:44.645336+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0fz66fkkb0f28axh232b', NULL),
('7', '2026-11-17 19:33:44.707831+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '500', 'pred_01m7ng0g3248fhz08vhdsx1a91', NULL),
('8', '2026-11-17 19:33:44.728772+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '1000', 'pred_01m7ng0g491zettw8m2hhr34x7', NULL),
('9', '2026-11-17 19:33:44.756964+00', 'charge', 'user:usr_01m7ng0dh5ckcm9mntfngbkpey', 'platform', '500', 'pred_01m7ng0g510vt2qmsjeng3qc4z', NULL);
insert into live_predictions (id, user_id, key_id, model_id, model_name, route, high_priority, holder, claim, deaths, created_at, started_at, queue_until, input, pricing, base_url, webhook_destination, webhook_target, reserved_micros, key_month, counts_parallel, bounds) overriding system value values
('pred_01m7ng111n0qzvzwpz0bcheyys', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', 'mdl_8', 'admin/llm', 'agent', 'false', 'node_01m7ng0y6ce2y2nphpvrmcfy37', '1', '0', '2026-11-17 19:34:02.52719+00', '2026-11-17 19:34:02.526464+00', '2026-11-18 19:34:02.526464+00', NULL, NULL, NULL, NULL, NULL, '1360', NULL, 'true', NULL),
('pred_01m7ng11bv1qy40mnsysyx4mb0', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_6', 'admin/narrow', 'async', 'false', 'node_01m7ng0y6ce2y2nphpvrmcfy37', '2', '0', '2026-11-17 19:34:02.467985+00', '2026-11-17 19:34:02.542499+00', '2026-11-18 19:34:02.429358+00', '{"prompt":"hang 0 5 10 20 m"}', '{"per_request":0.002}', 'http://127.0.0.1:45907', 'http://127.0.0.1:34047', E'\\x015db29c15bb19af779670bba33f63916c79184d2a10b3b2e966596393b48d4e2843047bc25740986425309e5fc848e7fb0882d607defe7746ad848df413171e4ca6027eb8fb7ead107944fb82b66bcff491dcbd3894510f69223d5ce05e716d3362dd9f', '2000', NULL, 'true', '{"seconds":300,"outputs":1,"inputTokens":2147483647,"outputTokens":2147483647}'),
('pred_01m7ng11gq3d16192p5nsz21cw', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'key_01m7ng0fns5cymsjkf6pswzrd1', 'mdl_6', 'admin/narrow', 'async', 'false', NULL, '1', '0', '2026-11-17 19:34:02.595185+00', NULL, '2026-11-18 19:34:02.594635+00', '{"prompt":"hang 0 5 10 20 m"}', '{"per_request":0.002}', 'http://127.0.0.1:45907', 'http://127.0.0.1:34047', E'\\x010c1e46148d97fdeb4225826e91b8eaa7003eabffb70a6edbe99159fc856f4df0bcb154f2cfc8c0537e3db6cd244a7f84739d0c9b5f0807255e7bb07c2a06295658dd5965be6b543e3da4a2f59ebed4dd57615d4b32d49a8b4e74fd457d8ea634eea953', '2000', NULL, 'false', '{"seconds":300,"outputs":1,"inputTokens":2147483647,"outputTokens":2147483647}'),
('pred_01m7ng11mw850w1nkqjd5bryg4', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', 'mdl_6', 'admin/narrow', 'async', 'false', NULL, '1', '0', '2026-11-17 19:34:02.656924+00', NULL, '2026-11-18 19:34:02.656837+00', '{"prompt":"hang 0 5 10 20 m"}', '{"per_request":0.002}', 'http://127.0.0.1:45907', 'http://127.0.0.1:34047', E'\\x01216b46f6a382cfdf2f4a11ac2a4643900264a4278023410d09469f604e75fbcd34bdf5123308446aac05988e1209345195edc1cb89f09cf8013b3467d5b153ed80ff84423119f81cddfa9c4161de0d6479a13aab9507b205e1b729239924bf2a4127c5', '2000', NULL, 'false', '{"seconds":300,"outputs":1,"inputTokens":2147483647,"outputTokens":2147483647}');
insert into model_flow (model_id, second, accepted, ended) overriding system value values
('mdl_1', '1794944030', '1', '0'),
('mdl_1', '1794944032', '0', '1'),
('mdl_5', '1794944024', '1', '0'),
('mdl_5', '1794944025', '3', '3'),
('mdl_5', '1794944026', '4', '4'),
('mdl_5', '1794944028', '4', '4'),
('mdl_5', '1794944029', '2', '3'),
('mdl_5', '1794944030', '3', '2'),
('mdl_5', '1794944031', '0', '1'),
('mdl_6', '1794944042', '1', '0'),
('mdl_6', '1794944043', '2', '0'),
('mdl_7', '1794944024', '1', '0'),
('mdl_7', '1794944025', '2', '3'),
('mdl_7', '1794944026', '4', '4'),
('mdl_7', '1794944028', '4', '4'),
('mdl_7', '1794944029', '2', '2'),
('mdl_7', '1794944030', '3', '3'),
('mdl_8', '1794944034', '1', '1'),
('mdl_8', '1794944035', '5', '5'),
('mdl_8', '1794944036', '4', '4'),
('mdl_8', '1794944043', '1', '0'),
('mdl_9', '1794944035', '1', '0'),
('mdl_9', '1794944036', '0', '1');
insert into model_lines (model_id, user_id, high_priority, last_turn) overriding system value values
('mdl_6', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'false', '-infinity'),
('mdl_6', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'false', '-infinity');
insert into model_slots (model_id, running, waiting, served_at) overriding system value values
('mdl_1', '0', '0', '-infinity'),
('mdl_5', '0', '0', '-infinity'),
('mdl_6', '1', '2', '2026-11-17 19:34:02.542635+00'),
('mdl_7', '0', '0', '-infinity'),
('mdl_8', '1', '0', '-infinity'),
('mdl_9', '0', '0', '-infinity');
insert into models (id, owner_id, name, manifest, version, seeded, created_at, updated_at, retired_at, owner, search_text, taken_down) overriding system value values
('mdl_1', 'usr_01m7ng0caqcz474res8c5508bn', 'image', '{"title":"Gantry Image","description":"A procedural painter: it is not a neural network. It reads the prompt for subjects it knows (drones, gates, pillars, mountains, forests, cities, the sea, boats, houses, castles, lighthouses, cars, trains, roads, rockets, balloons, planes, birds, robots, people, cats, dogs, rabbits, whales, flowers, sun, moon, stars, planets, weather and more), for colours, numbers, sizes, sides, time of day and mood, and paints a layered scene; any other prompt becomes an abstract composition grown from its words. Up to ten reference images appear in the scene on billboards or as prints on lines. The same input always gives the same bytes. It runs inside Gantry, without a GPU, a key or the network.","kind":"image","visibility":"public","capacity":4,"timeout_seconds":60,"max_queue_seconds":86400,"pricing":{"per_request":0.03},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to paint, in English.","type":"string","default":"Three nimble drones race through a course of glowing gates and tall pillars at sunset, leaving ribbons of light behind them, with hazy mountains on the horizon."},"image":{"title":"Reference image","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image1":{"title":"Reference image 2","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image2":{"title":"Reference image 3","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image3":{"title":"Reference image 4","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image4":{"title":"Reference image 5","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image5":{"title":"Reference image 6","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image6":{"title":"Reference image 7","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image7":{"title":"Reference image 8","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image8":{"title":"Reference image 9","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image9":{"title":"Reference image 10","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"size":{"title":"Size","description":"Width x height in pixels; 2k is 2048x2048.","type":["string","null"],"default":"2k","enum":["2k","1536x1536","1280x720","720x1280","2048x2048","2304x1728","1728x2304","2560x1440","1440x2560","2496x1664","1664x2496","3024x1296"]},"watermark":{"title":"Watermark","description":"Draws a small GANTRY mark into the lower right corner.","type":["boolean","null"],"default":false},"optimize_prompt_mode":{"title":"Prompt optimisation","description":"standard enriches the scene with fitting details and finishes it finely; fast paints the prompt literally and sooner.","type":["string","null"],"default":"standard","enum":["standard","fast"]},"enable_safety_checker":{"title":"Safety checker","description":"Refuses prompts with words from the documented list.","type":["boolean","null"],"default":true}},"required":["prompt"]},"output":{"type":"object","properties":{"image":{"title":"Image","description":"The painted picture, a JPEG of exactly the asked size.","type":"string","format":"binary","x-media":"image"}},"required":["image"]},"backend":{"type":"builtin","model":"image"}}', '1', '{"title":"Gantry Image","description":"A procedural painter: it is not a neural network. It reads the prompt for subjects it knows (drones, gates, pillars, mountains, forests, cities, the sea, boats, houses, castles, lighthouses, cars, trains, roads, rockets, balloons, planes, birds, robots, people, cats, dogs, rabbits, whales, flowers, sun, moon, stars, planets, weather and more), for colours, numbers, sizes, sides, time of day and mood, and paints a layered scene; any other prompt becomes an abstract composition grown from its words. Up to ten reference images appear in the scene on billboards or as prints on lines. The same input always gives the same bytes. It runs inside Gantry, without a GPU, a key or the network.","kind":"image","visibility":"public","capacity":4,"timeout_seconds":60,"max_queue_seconds":86400,"pricing":{"per_request":0.03},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to paint, in English.","type":"string","default":"Three nimble drones race through a course of glowing gates and tall pillars at sunset, leaving ribbons of light behind them, with hazy mountains on the horizon."},"image":{"title":"Reference image","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image1":{"title":"Reference image 2","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image2":{"title":"Reference image 3","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image3":{"title":"Reference image 4","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image4":{"title":"Reference image 5","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image5":{"title":"Reference image 6","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image6":{"title":"Reference image 7","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image7":{"title":"Reference image 8","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image8":{"title":"Reference image 9","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"image9":{"title":"Reference image 10","description":"Shown in the scene with its real content, on a billboard or as a print on a line; its colours tint the palette.","type":["string","null"],"default":null,"format":"binary","x-media":"image"},"size":{"title":"Size","description":"Width x height in pixels; 2k is 2048x2048.","type":["string","null"],"default":"2k","enum":["2k","1536x1536","1280x720","720x1280","2048x2048","2304x1728","1728x2304","2560x1440","1440x2560","2496x1664","1664x2496","3024x1296"]},"watermark":{"title":"Watermark","description":"Draws a small GANTRY mark into the lower right corner.","type":["boolean","null"],"default":false},"optimize_prompt_mode":{"title":"Prompt optimisation","description":"standard enriches the scene with fitting details and finishes it finely; fast paints the prompt literally and sooner.","type":["string","null"],"default":"standard","enum":["standard","fast"]},"enable_safety_checker":{"title":"Safety checker","description":"Refuses prompts with words from the documented list.","type":["boolean","null"],"default":true}},"required":["prompt"]},"output":{"type":"object","properties":{"image":{"title":"Image","description":"The painted picture, a JPEG of exactly the asked size.","type":"string","format":"binary","x-media":"image"}},"required":["image"]},"backend":{"type":"builtin","model":"image"}}', '2026-11-17 19:33:40.900309+00', '2026-11-17 19:33:40.900309+00', NULL, 'gantry', 'gantry/image gantry image', NULL),
('mdl_10', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'gone', '{"title":"Gone","description":"","kind":"other","visibility":"public","capacity":1,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{},"input":{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string"}}},"backend":{"type":"cog","url":"http://127.0.0.1:44997/cog"}}', '2', NULL, '2026-11-17 19:33:44.506895+00', '2026-11-17 19:33:44.506895+00', '2026-11-17 19:33:44.525992+00', 'alice', 'alice/gone gone', NULL),
('mdl_2', 'usr_01m7ng0caqcz474res8c5508bn', 'text', '{"title":"Gantry Text","description":"The text model that comes with Gantry. Until a trained model ships it is answered by the rules of gantry/rules: not a language model but a rule-based planner.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{"per_million_input_tokens":0.1,"per_million_output_tokens":0.4},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '1', '{"title":"Gantry Text","description":"The text model that comes with Gantry. Until a trained model ships it is answered by the rules of gantry/rules: not a language model but a rule-based planner.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{"per_million_input_tokens":0.1,"per_million_output_tokens":0.4},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '2026-11-17 19:33:40.962425+00', '2026-11-17 19:33:40.962425+00', NULL, 'gantry', 'gantry/text gantry text', NULL),
('mdl_3', 'usr_01m7ng0caqcz474res8c5508bn', 'rules', '{"title":"Gantry Rules","description":"Not a language model but a rule-based planner: it recognises a set of requests, calls the tools that serve them and reports what they returned, so that an agent runs without any key. The same input always gives the same answer.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '1', '{"title":"Gantry Rules","description":"Not a language model but a rule-based planner: it recognises a set of requests, calls the tools that serve them and reports what they returned, so that an agent runs without any key. The same input always gives the same answer.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '2026-11-17 19:33:40.984356+00', '2026-11-17 19:33:40.984356+00', NULL, 'gantry', 'gantry/rules gantry rules', NULL),
('mdl_4', 'usr_01m7ng0cat3vd7hn9nayhwq18w', 'default', '{"title":"Default text model","description":"The model that agents use unless they name another. Neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, so it is answered by the rules of gantry/rules: not a language model but a rule-based planner.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '1', '{"title":"Default text model","description":"The model that agents use unless they name another. Neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, so it is answered by the rules of gantry/rules: not a language model but a rule-based planner.","kind":"text","visibility":"public","capacity":256,"timeout_seconds":300,"max_queue_seconds":86400,"context_window":32000,"pricing":{},"input":{"type":"object","properties":{"prompt":{"title":"Prompt","description":"What to answer.","type":"string","minLength":1},"system":{"title":"System","description":"How to answer: the role, the tone, the rules.","type":["string","null"],"default":null},"max_tokens":{"title":"Tokens at most","description":"The length of the answer at most.","type":["integer","null"],"default":4096,"minimum":1,"maximum":64000},"temperature":{"title":"Temperature","description":"How freely the words are chosen: 0 is always the likeliest one.","type":["number","null"],"default":null,"minimum":0,"maximum":2},"seed":{"title":"Seed","description":"The same seed and input give the same answer where the model can do that.","type":["integer","null"],"default":null,"minimum":0,"maximum":2147483647}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"title":"Output","description":"The answer, piece by piece.","type":"string","isStream":true}},"required":["output"]},"backend":{"type":"builtin","model":"rules"}}', '2026-11-17 19:33:41.012347+00', '2026-11-17 19:33:41.012347+00', NULL, 'anthropic', 'anthropic/default default text model', NULL),
('mdl_5', 'usr_01m7ng0caz0vyqnhjg9yss436k', 'make', '{"title":"make","description":"A model of the proofs.","kind":"other","visibility":"public","capacity":4,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{"per_request":0.001},"input":{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string"}},"required":["output"]},"backend":{"type":"cog","url":"http://127.0.0.1:44997/cog"}}', '1', NULL, '2026-11-17 19:33:44.377767+00', '2026-11-17 19:33:44.377767+00', NULL, 'admin', 'admin/make make', NULL),
('mdl_6', 'usr_01m7ng0caz0vyqnhjg9yss436k', 'narrow', '{"title":"narrow","description":"A model of the proofs.","kind":"other","visibility":"public","capacity":1,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{"per_request":0.002},"input":{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string"}},"required":["output"]},"backend":{"type":"cog","url":"http://127.0.0.1:44997/cog"}}', '1', NULL, '2026-11-17 19:33:44.406388+00', '2026-11-17 19:33:44.406388+00', NULL, 'admin', 'admin/narrow narrow', NULL),
('mdl_7', 'usr_01m7ng0caz0vyqnhjg9yss436k', 'say', '{"title":"say","description":"A model of the proofs.","kind":"text","visibility":"public","capacity":4,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{"per_million_input_tokens":10,"per_million_output_tokens":20},"input":{"type":"object","properties":{"prompt":{"type":"string"},"max_tokens":{"type":"integer"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string","isStream":true}},"required":["output"]},"backend":{"type":"openai-chat","url":"http://127.0.0.1:44997/chat","model":"m"}}', '1', NULL, '2026-11-17 19:33:44.422341+00', '2026-11-17 19:33:44.422341+00', NULL, 'admin', 'admin/say say', NULL),
('mdl_8', 'usr_01m7ng0caz0vyqnhjg9yss436k', 'llm', '{"title":"LLM","description":"","kind":"text","visibility":"public","capacity":10,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{"per_million_input_tokens":10},"input":{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string","isStream":true}}},"backend":{"type":"openai-chat","url":"http://127.0.0.1:41627/v1","model":"scripted"}}', '1', NULL, '2026-11-17 19:33:44.459074+00', '2026-11-17 19:33:44.459074+00', NULL, 'admin', 'admin/llm llm', NULL),
('mdl_9', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'own', '{"title":"Own","description":"","kind":"text","visibility":"private","capacity":10,"timeout_seconds":300,"max_queue_seconds":86400,"pricing":{"per_million_input_tokens":10},"input":{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]},"output":{"type":"object","properties":{"output":{"type":"string","isStream":true}}},"backend":{"type":"openai-chat","url":"http://127.0.0.1:41627/v1","model":"scripted"}}', '1', NULL, '2026-11-17 19:33:44.480816+00', '2026-11-17 19:33:44.480816+00', NULL, 'alice', 'alice/own own', NULL);
insert into nodes (id, started_at, heartbeat_at, key_proof, file_store) overriding system value values
('node_01m7ng0y6ce2y2nphpvrmcfy37', '2026-11-17 19:33:59.313598+00', '2026-11-17 19:34:04.817502+00', '-isiiPt_RJ1zlhIil--Mqz86W8cDPwv2szlWH5QnCDY', 'folder:GANTRYFC28C61AA31213');
insert into open_links (key, created_at) overriding system value values
('uploads/file_01m7ng0qsw98tx8medfx7v2szs/file', '2026-11-17 19:33:52.573+00'),
('uploads/file_01m7ng0qta3r3zxx2zpk0ngbk2/file', '2026-11-17 19:33:52.586+00');
insert into plans (name, requests_per_minute, parallel, storage_bytes) overriding system value values
('free', '60', '4', NULL),
('gold', '1000', '2', '1000000'),
('pro', '600', '32', NULL),
('unlimited', NULL, NULL, NULL);
insert into run_calls (run_id, step, "position", call_id, tool, arguments, kind, status, child_id, result, is_error, started_at, ended_at) overriding system value values
('run_01m7ng0s3503x2bvyn2zdjfmd9', '1', '0', 'call_1_0', 'run_javascript', '{"code":"6 * 7"}', 'read', 'ended', NULL, '42', 'false', '2026-11-17 19:33:54.046167+00', '2026-11-17 19:33:54.708367+00'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '1', '0', 'call_3_0', 'child', '{}', 'agent', 'ended', 'run_01m7ng0t8sbybtearz3xk6z7nr', '{"text":"done"}', 'false', '2026-11-17 19:33:55.099257+00', '2026-11-17 19:33:55.344035+00'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '1', '0', 'call_4_0', 'run_javascript', '{"code":"6 * 7"}', 'read', 'ended', NULL, '42', 'false', '2026-11-17 19:33:55.225082+00', '2026-11-17 19:33:55.268671+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '1', '0', 'call_9_0', 'run_javascript', '{"code":"6 * 7"}', 'read', 'ended', NULL, '42', 'false', '2026-11-17 19:33:55.885704+00', '2026-11-17 19:33:55.933816+00'),
('run_01m7ng0v4j9j27085nwq6q2a58', '1', '0', 'call_11_0', 'run_javascript', '{"code":"6 * 7"}', 'read', 'asking', NULL, NULL, NULL, NULL, NULL);
insert into run_confirmations (id, run_id, root_id, step, "position", tool, arguments, details, arguments_hash, status, reason, created_at, expires_at, resolved_at) overriding system value values
('conf_01m7ng0twy0xhr5j5d72s7np4y', 'run_01m7ng0tve69fpf83qy6yjr3wa', 'run_01m7ng0tve69fpf83qy6yjr3wa', '1', '0', 'run_javascript', '{"code":"6 * 7"}', NULL, '9384d52067499f1301700745854d5dbce93e740899161bd3810542ddf04f04ab', 'approved', NULL, '2026-11-17 19:33:55.745916+00', '2026-11-18 19:33:55.742+00', '2026-11-17 19:33:55.84114+00'),
('conf_01m7ng0v5tdz3gcrqmn7r2er29', 'run_01m7ng0v4j9j27085nwq6q2a58', 'run_01m7ng0v4j9j27085nwq6q2a58', '1', '0', 'run_javascript', '{"code":"6 * 7"}', NULL, '9384d52067499f1301700745854d5dbce93e740899161bd3810542ddf04f04ab', 'pending', NULL, '2026-11-17 19:33:56.02861+00', '2026-11-18 19:33:56.026+00', NULL);
insert into run_events (run_id, n, type, data, created_at) overriding system value values
('run_01m7ng0s3503x2bvyn2zdjfmd9', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:53.944922+00'),
('run_01m7ng0s3503x2bvyn2zdjfmd9', '2', 'tool_call', '{"tool":"run_javascript","arguments":{"code":"6 * 7"},"call_id":"call_7cca16f9f6d5"}', '2026-11-17 19:33:54.046036+00'),
('run_01m7ng0s3503x2bvyn2zdjfmd9', '3', 'tool_result', '{"tool":"run_javascript","result":"42","call_id":"call_7cca16f9f6d5"}', '2026-11-17 19:33:54.708299+00'),
('run_01m7ng0s3503x2bvyn2zdjfmd9', '4', 'completed', '{"output":{"text":"done"}}', '2026-11-17 19:33:54.788323+00'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:55.045453+00'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '2', 'tool_call', '{"tool":"child","arguments":{},"call_id":"call_a9b7765b6b3f"}', '2026-11-17 19:33:55.099224+00'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '3', 'tool_result', E'{"tool" : "child", "result" : "{\\"text\\":\\"done\\"}", "call_id" : "call_a9b7765b6b3f"}', '2026-11-17 19:33:55.352845+00'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '4', 'completed', '{"output":{"text":"done"}}', '2026-11-17 19:33:55.449621+00'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:55.201277+00'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '2', 'tool_call', '{"tool":"run_javascript","arguments":{"code":"6 * 7"},"call_id":"call_4ade05afb864"}', '2026-11-17 19:33:55.225354+00'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '3', 'tool_result', '{"tool":"run_javascript","result":"42","call_id":"call_4ade05afb864"}', '2026-11-17 19:33:55.2689+00'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '4', 'completed', '{"output":{"text":"done"}}', '2026-11-17 19:33:55.342804+00'),
('run_01m7ng0tn19bk7yb82tfcfwn29', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:55.515131+00'),
('run_01m7ng0tn19bk7yb82tfcfwn29', '2', 'completed', '{"output":{"text":"plain"}}', '2026-11-17 19:33:55.543378+00'),
('run_01m7ng0tqw8g1dj1hv28pb9jtt', '1', 'planning', '{"message":"Working on the goal with alice/own."}', '2026-11-17 19:33:55.595056+00'),
('run_01m7ng0tqw8g1dj1hv28pb9jtt', '2', 'completed', '{"output":{"text":"plain"}}', '2026-11-17 19:33:55.653914+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:55.717588+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '2', 'confirmation_required', '{"confirmation_id":"conf_01m7ng0twy0xhr5j5d72s7np4y","tool":"run_javascript","arguments":{"code":"6 * 7"},"expires_at":"2026-11-18T19:33:55.742Z","call_id":"call_8151daf4c32e"}', '2026-11-17 19:33:55.746385+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '3', 'confirmation_resolved', '{"confirmation_id" : "conf_01m7ng0twy0xhr5j5d72s7np4y", "tool" : "run_javascript", "approved" : true, "status" : "approved", "reason" : null}', '2026-11-17 19:33:55.841723+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '4', 'tool_call', '{"tool":"run_javascript","arguments":{"code":"6 * 7"},"call_id":"call_8151daf4c32e"}', '2026-11-17 19:33:55.885932+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '5', 'tool_result', '{"tool":"run_javascript","result":"42","call_id":"call_8151daf4c32e"}', '2026-11-17 19:33:55.933771+00'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '6', 'completed', '{"output":{"text":"done"}}', '2026-11-17 19:33:55.965134+00'),
('run_01m7ng0v4j9j27085nwq6q2a58', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:33:55.997161+00'),
('run_01m7ng0v4j9j27085nwq6q2a58', '2', 'confirmation_required', '{"confirmation_id":"conf_01m7ng0v5tdz3gcrqmn7r2er29","tool":"run_javascript","arguments":{"code":"6 * 7"},"expires_at":"2026-11-18T19:33:56.026Z","call_id":"call_9eb9b9a6b027"}', '2026-11-17 19:33:56.028884+00'),
('run_01m7ng111n0qzt8kdvv2nak0ab', '1', 'planning', '{"message":"Working on the goal with admin/llm."}', '2026-11-17 19:34:02.467452+00');
insert into run_steps (run_id, n, kind, message, prompt, prediction_id, input_tokens, output_tokens, cached_tokens, cost_micros, created_at, cache_write_tokens) overriding system value values
('run_01m7ng0s3503x2bvyn2zdjfmd9', '1', 'work', '{"text":"","toolCalls":[{"id":"call_1_0","name":"run_javascript","arguments":{"code":"6 * 7"}}]}', NULL, 'pred_01m7ng0s3503x3wq2nah544n4h', '100', '20', '0', '1000', '2026-11-17 19:33:54.046357+00', '0'),
('run_01m7ng0s3503x2bvyn2zdjfmd9', '2', 'work', '{"text":"done","toolCalls":[]}', NULL, 'pred_01m7ng0s7j1dct9zxt8sf4rxts', '100', '20', '0', '1000', '2026-11-17 19:33:54.776437+00', '0'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '1', 'work', '{"text":"","toolCalls":[{"id":"call_3_0","name":"child","arguments":{}}]}', NULL, 'pred_01m7ng0t3j7ps1q1b77n1xy5tz', '100', '20', '0', '1000', '2026-11-17 19:33:55.099333+00', '0'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', '2', 'work', '{"text":"done","toolCalls":[]}', NULL, 'pred_01m7ng0tjp9d45f5rwvhx03z64', '100', '20', '0', '1000', '2026-11-17 19:33:55.445987+00', '0'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '1', 'work', '{"text":"","toolCalls":[{"id":"call_4_0","name":"run_javascript","arguments":{"code":"6 * 7"}}]}', NULL, 'pred_01m7ng0tapfb1rfzj6pr1yz6k7', '100', '20', '0', '1000', '2026-11-17 19:33:55.224703+00', '0'),
('run_01m7ng0t8sbybtearz3xk6z7nr', '2', 'work', '{"text":"done","toolCalls":[]}', NULL, 'pred_01m7ng0tcq4tfgz85ysc0gtxn0', '100', '20', '0', '1000', '2026-11-17 19:33:55.317422+00', '0'),
('run_01m7ng0tn19bk7yb82tfcfwn29', '1', 'work', '{"text":"plain","toolCalls":[]}', NULL, 'pred_01m7ng0tn19bk8tm33785en0fq', '100', '190', '0', '1000', '2026-11-17 19:33:55.539151+00', '0'),
('run_01m7ng0tqw8g1dj1hv28pb9jtt', '1', 'work', '{"text":"plain","toolCalls":[]}', NULL, 'pred_01m7ng0tqw8g1ewzmz883sk9x5', '100', '190', '0', '0', '2026-11-17 19:33:55.642401+00', '0'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '1', 'work', '{"text":"","toolCalls":[{"id":"call_9_0","name":"run_javascript","arguments":{"code":"6 * 7"}}]}', NULL, 'pred_01m7ng0tve69fqaykjh0gpv9fb', '100', '20', '0', '1000', '2026-11-17 19:33:55.74531+00', '0'),
('run_01m7ng0tve69fpf83qy6yjr3wa', '2', 'work', '{"text":"done","toolCalls":[]}', NULL, 'pred_01m7ng0v3db04jnkbqx6nh600y', '100', '20', '0', '1000', '2026-11-17 19:33:55.962466+00', '0'),
('run_01m7ng0v4j9j27085nwq6q2a58', '1', 'work', '{"text":"","toolCalls":[{"id":"call_11_0","name":"run_javascript","arguments":{"code":"6 * 7"}}]}', NULL, 'pred_01m7ng0v4j9j28nydrwpnvtkpx', '100', '20', '0', '1000', '2026-11-17 19:33:56.02816+00', '0');
insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, parent_step, parent_position, status, phase, input, output, error, max_cost_micros, timeout_ms, max_steps, approve, connectors, base_url, holder, claim, writes, deaths, parked, cancel_requested, active_ms, parked_at_ms, call_id, cut_before, steps, last_event, input_tokens, output_tokens, cached_tokens, cost_micros, due_micros, held_micros, own_held_micros, price_micros, sale_name, key_month, created_at, started_at, completed_at, trace, summing_up, cache_write_tokens) overriding system value values
('run_01m7ng0s3503x2bvyn2zdjfmd9', 'agt_01m7ng0rr17j69ddt53pw8a60y', 'rev_01m7ng0rr17j6aaa0skxa06xg3', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{}', NULL, NULL, 'done', 'ended', '{}', '{"text":"done"}', NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '1', '5', '0', 'false', 'false', '869', '869', 'pred_01m7ng0syq0twxssj17rmx8f7e', '0', '2', '4', '200', '40', '0', '2000', '0', '0', '0', '0', 'agents/alice/tool', NULL, '2026-11-17 19:33:53.896641+00', '2026-11-17 19:33:53.907733+00', '2026-11-17 19:33:54.790179+00', NULL, NULL, '0'),
('run_01m7ng0t3j7ps05v9q1rwhzp1g', 'agt_01m7ng0rsc8fq5gyb29mx13e93', 'rev_01m7ng0rsc8fq6ah5nsdzjxvkp', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{}', NULL, NULL, 'done', 'ended', '{}', '{"text":"done"}', NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '2', '7', '0', 'false', 'false', '362', '362', 'pred_01m7ng0tknds8nghqf9t9awxt3', '0', '2', '4', '400', '80', '0', '4000', '0', '0', '0', '0', 'agents/alice/parent', NULL, '2026-11-17 19:33:54.931425+00', '2026-11-17 19:33:54.961622+00', '2026-11-17 19:33:55.449832+00', NULL, NULL, '0'),
('run_01m7ng0t8sbybtearz3xk6z7nr', 'agt_01m7ng0rr17j69ddt53pw8a60y', 'rev_01m7ng0rr17j6aaa0skxa06xg3', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{run_01m7ng0t3j7ps05v9q1rwhzp1g}', '1', '0', 'done', 'ended', '{}', '{"text":"done"}', NULL, NULL, '899855', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '1', '5', '0', 'false', 'false', '145', '145', 'pred_01m7ng0tfhdxp10q93gayjfk6c', '0', '2', '4', '200', '40', '0', '2000', '0', '0', '0', '0', 'agents/alice/tool', NULL, '2026-11-17 19:33:55.16025+00', '2026-11-17 19:33:55.190411+00', '2026-11-17 19:33:55.343014+00', NULL, NULL, '0'),
('run_01m7ng0tn19bk7yb82tfcfwn29', 'agt_01m7ng0rx85hahsart3hr2jafv', 'rev_01m7ng0rx85hajpf7829emdrfh', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', '{}', NULL, NULL, 'done', 'ended', '{}', '{"text":"plain"}', NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '1', '3', '0', 'false', 'false', '31', '31', 'pred_01m7ng0tpjfqh6r6a5nkbs1cw3', '0', '1', '2', '100', '190', '0', '251000', '0', '0', '0', '250000', 'agents/alice/plain-market', NULL, '2026-11-17 19:33:55.492509+00', '2026-11-17 19:33:55.508108+00', '2026-11-17 19:33:55.543594+00', NULL, NULL, '0'),
('run_01m7ng0tqw8g1dj1hv28pb9jtt', 'agt_01m7ng0rypftnd4r9jy7kca6qk', 'rev_01m7ng0rypftne2r9nrsbtxzrr', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'key_01m7ng0fksbk86swrse0gbvhen', '{}', NULL, NULL, 'done', 'ended', '{}', '{"text":"plain"}', NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '1', '3', '0', 'false', 'false', '65', '65', 'pred_01m7ng0tsrdtx1j3the3s2cxwf', '0', '1', '2', '100', '190', '0', '0', '0', '0', '0', '0', 'agents/alice/plain-sponsored', NULL, '2026-11-17 19:33:55.582655+00', '2026-11-17 19:33:55.586021+00', '2026-11-17 19:33:55.654126+00', NULL, NULL, '0'),
('run_01m7ng0tve69fpf83qy6yjr3wa', 'agt_01m7ng0rnycg4gspfw3qw4m9xq', 'rev_01m7ng0rnycg4haz0je8kj0pgz', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{}', NULL, NULL, 'done', 'ended', '{}', '{"text":"done"}', NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '2', '9', '0', 'false', 'false', '135', '135', 'pred_01m7ng0v3rabyv73sbm9jabm85', '0', '2', '6', '200', '40', '0', '2000', '0', '0', '0', '0', 'agents/alice/asking', NULL, '2026-11-17 19:33:55.695306+00', '2026-11-17 19:33:55.706187+00', '2026-11-17 19:33:55.965351+00', NULL, NULL, '0'),
('run_01m7ng0v4j9j27085nwq6q2a58', 'agt_01m7ng0rnycg4gspfw3qw4m9xq', 'rev_01m7ng0rnycg4haz0je8kj0pgz', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{}', NULL, NULL, 'running', 'awaiting_confirmation', '{}', NULL, NULL, NULL, '900000', '50', '{}', '{}', 'http://127.0.0.1:34595', NULL, '1', '3', '0', 'true', 'false', '49', '49', 'pred_01m7ng0v5tdz3hnds4f3dnbx73', '0', '1', '2', '100', '20', '0', '1000', '0', '0', '0', '0', 'agents/alice/asking', NULL, '2026-11-17 19:33:55.987068+00', '2026-11-17 19:33:55.990412+00', NULL, NULL, NULL, '0'),
('run_01m7ng111n0qzt8kdvv2nak0ab', 'agt_01m7ng0rv9bd7q6fgtaqw13pnm', 'rev_01m7ng0rv9bd7rbvm1c3c4xxec', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '{}', NULL, NULL, 'running', 'working', '{}', NULL, NULL, '500000', '900000', '50', '{}', '{}', 'http://127.0.0.1:45907', 'node_01m7ng0y6ce2y2nphpvrmcfy37', '1', '2', '0', 'false', 'false', '121', '121', 'pred_01m7ng111n0qzvzwpz0bcheyys', '0', '0', '1', '0', '0', '0', '0', '0', '1360', '1360', '0', 'agents/alice/slow', NULL, '2026-11-17 19:34:02.151636+00', '2026-11-17 19:34:02.356288+00', NULL, NULL, NULL, '0');
insert into schema_migrations (name, hash, applied_at, must_know) overriding system value values
('0001-accounts.sql', 'a1361d3b05ad82c9ef423e7daf08965a4fc579f8ecb6a0556f167b11bfbf9f9c', '2026-11-17 19:33:38.457081+00', 'false'),
('0002-models.sql', '81479470379214dc41d20cdb12b947135a4356b1348a06c0ea6b8984884dbec4', '2026-11-17 19:33:38.588736+00', 'false'),
('0003-files.sql', '0c432a53bacb3460807e819a114d0b677bea83713ebf44ef083b041f53519f05', '2026-11-17 19:33:38.632096+00', 'false'),
('0004-predictions.sql', '24d5f356ea7a565f188893d567fa5a6ff56aa51a532c6a4d82a17a22d5e6e660', '2026-11-17 19:33:38.684763+00', 'false'),
('0005-money.sql', '35356576eeb5321d791974573bb6a05cb32d8c6ae72b8fb517b69ffab4d9317c', '2026-11-17 19:33:38.844813+00', 'false'),
('0006-usage-reading.sql', '93cf42b787ca90c06566ef3340dcc72e23e3a5ad388004399eb351e2c9a66a7a', '2026-11-17 19:33:38.990373+00', 'false'),
('0007-secrets.sql', '9bd67bf7d111b4b5d3e7a9af92b0f29a90db6880df13323fe103cb515e6b9fb6', '2026-11-17 19:33:39.041584+00', 'false'),
('0008-webhooks.sql', '82e9ebaa0176c0029d1f4a9db2277c965bc43ad85bb9ba5c318f46d9763e2570', '2026-11-17 19:33:39.073818+00', 'false'),
('0009-admission-and-settlement.sql', 'd33e2ed6e0b8287ca6d8af5de92eccb15f9488067c5d1e2470e88d82634f2284', '2026-11-17 19:33:39.147468+00', 'false'),
('0010-agents.sql', '94d6d8f601dd0fc469d8c819049064694a9b56e6c751d77f5c1573e2c82df6d4', '2026-11-17 19:33:39.182568+00', 'false'),
('0012-idp-connector.sql', 'a7804ccd58cd4d1c708fcb55535182a8a5ad5b25dcaeff1ce7400e9dc213b7b2', '2026-11-17 19:33:39.268656+00', 'false'),
('0014-drives.sql', 'd164d2c3a20f2091291d70723e6e50ae7d8b489a538a02aaff0ad44bb973456e', '2026-11-17 19:33:39.303328+00', 'false'),
('0015-tool-servers.sql', 'abd10232e62900317b8732f836b5b21974bf469a41ce3424bdc932d1ed1217c8', '2026-11-17 19:33:39.377141+00', 'false'),
('0017-claims-and-ends.sql', '07c46093ac453ab634e49f86edc2f010ce30906dd245d93c24c7899a80a8dca5', '2026-11-17 19:33:39.416746+00', 'false'),
('0018-traces.sql', 'aabf665e793d4af7ec7861177081c1fa1d157e32b6d7e79a609fae4eb745ce47', '2026-11-17 19:33:39.440752+00', 'false'),
('0019-grants-at-admission.sql', '2b0f0ec5a25a8249d84376b4c0185e1e0867c55a1cf30851e75ec39a345d937f', '2026-11-17 19:33:39.475027+00', 'false'),
('0020-agent-calls.sql', '67a1df9bf93b73728a856a8d00243c3581c796152bb7ec6787affb45d879b268', '2026-11-17 19:33:39.489281+00', 'false'),
('0021-faster-admission.sql', '16b8cf4d27cae7c4b44c5bd8e2dde7b329ba19042304de7ff16d2222ff25e698', '2026-11-17 19:33:39.523454+00', 'false'),
('0022-runs.sql', 'bbca6082f50058f9bcd1af5b2179f24bd03f573272fb4a12ca4dcf3176495207', '2026-11-17 19:33:39.553892+00', 'false'),
('0023-faster-queues.sql', '057234c13524a6185f61fd772cf172d49d9ca120877c9d373054b8b14696e10d', '2026-11-17 19:33:39.721432+00', 'false'),
('0024-run-traces.sql', '0b55ba1f6c166b3bc40958061daa6af0ec5fccc6c7f9345905708538fc11fa98', '2026-11-17 19:33:39.801211+00', 'false'),
('0025-scrape-of-runs.sql', '19d6ccb92465dd1fdb8ae62472c7c3e8d0e20ae71506742481450986409796e6', '2026-11-17 19:33:39.840039+00', 'false'),
('0026-run-times-and-agent-names.sql', '4016a45740edfc655d20f75851767bd8df9958674ee43b4c011a592e5f5da13c', '2026-11-17 19:33:39.860244+00', 'false'),
('0027-keys-of-nodes.sql', '5ac15d11c1b20e430ba254446b07a377e543f4eb04368c1c3c374d64279d65d1', '2026-11-17 19:33:39.882994+00', 'false'),
('0029-last-words.sql', '209a1adf6b44085d53092eb9db4be2e8f71f786cccdf1f17186baa0758b0a0d4', '2026-11-17 19:33:39.893103+00', 'false'),
('0030-summaries-under-way.sql', '4ed62df39c07bb491136361d1cee9f40c7e41956a40adfa426cde6c04d5092ba', '2026-11-17 19:33:39.912567+00', 'false'),
('0031-words-of-streams.sql', 'e60ca567675497a20365f83aed6d1d37fdee448efea6e186f3cf15f9dca291ca', '2026-11-17 19:33:39.924824+00', 'false'),
('0032-no-rest-out-of-time.sql', '96a5143cf33cd2cdf71263c1bb2e119f9780bcf4e2de14ea85e6a1369074f4f4', '2026-11-17 19:33:39.940089+00', 'true'),
('0033-word-of-questions.sql', '36a96e2047695551cee67ddbc4a20fc37cb6ca20b573be412176efb71d905dc2', '2026-11-17 19:33:39.957063+00', 'false'),
('0034-clocks-that-jump.sql', '0dfe90f10578b54074b0678e8af7e7b9c32b1ae6a55e65560d447f6525509a2b', '2026-11-17 19:33:39.968083+00', 'false'),
('0035-minutes-that-end-now.sql', '4341863715067313b84cb6285b6492d1a26905d2ac7df99a31629735e66a67b9', '2026-11-17 19:33:40.005205+00', 'false'),
('0036-what-grows.sql', '4e4015d31c0d67d00e86af61874fc11e35dec0c5b129ba1ecd241089d0e3120f', '2026-11-17 19:33:40.026078+00', 'false'),
('0038-runs-and-uploads-by-index.sql', '140f56d1aea2ef60c3df3c1d8b64230726e9ae12f08ef33007b0945a3aa45421', '2026-11-17 19:33:40.129228+00', 'false'),
('0039-lists-by-index.sql', '463fd091b3277d60d407c3b70e5574730b9a1a17483337433e22852fe2878542', '2026-11-17 19:33:40.15638+00', 'false'),
('0040-results-of-agents-by-call.sql', '90df0964754da1bf3f1a1edba64878959bd24650792c481f929c8d3644971c56', '2026-11-17 19:33:40.187368+00', 'false'),
('0041-links-and-stores.sql', '604b9b003a51cde57572ef667dbbfebd9245b58ed0e93214b60da89e9b72115c', '2026-11-17 19:33:40.211036+00', 'false'),
('0042-covered-calls.sql', '625a0b7b0a8e696e9285685d305cb0dd645bac2258e83628644b0fefbc74c53f', '2026-11-17 19:33:40.241181+00', 'false'),
('0043-ledger-by-account.sql', '6bd635176496905875acdaf2b3103b8efa7dda663d2d713358d8abf8fae90a5f', '2026-11-17 19:33:40.372196+00', 'false'),
('0044-sign-in-links.sql', '84073370ce34a26825e70dfd53b689996142fe52c4cebf4521ddd90f5ee25b7e', '2026-11-17 19:33:40.420187+00', 'false'),
('0045-bounded-charges.sql', 'a72a336e8a074d1ed30346baf9e1297f8542aa38d948589f95c7a596f8be6546', '2026-11-17 19:33:40.465151+00', 'false'),
('0046-sponsored-calls.sql', '9651fc3860bdef4935a976267715011b156e359cc43e61d8bb164542f222bb58', '2026-11-17 19:33:40.507736+00', 'false'),
('0047-run-slots.sql', 'aff350c720b53d25356af96cf0fbb0e77d7c7f5b6eda6a6e98ae41e7a3da0136', '2026-11-17 19:33:40.583215+00', 'false'),
('0048-storage-quota-and-take-down.sql', '682a368cc10b491ea528b17ca9cbd360b343d7d94c40b49fa523fd6d8514a6f9', '2026-11-17 19:33:40.610646+00', 'false'),
('0049-keys-and-their-things.sql', '4ea045381547731d4974f401e76dd3d693d92dbec7fa812e8f0ace5ef0f63aef', '2026-11-17 19:33:40.652309+00', 'false'),
('0050-bare-media-types.sql', 'cc5c188b12e2a04791c72cfce8e2f25de9abc4148603570ebf0a5739f9873c45', '2026-11-17 19:33:40.671033+00', 'false');
insert into secrets (owner_id, name, sealed, created_at, updated_at) overriding system value values
('usr_01m7ng0dh5ckcm9mntfngbkpey', 'crm', E'\\x0111ff8358ccf46a409a1abc0901697a7b1bed2fbec6dfc86d44e863f19545b6d21ee0', '2026-11-17 19:33:44.362927+00', '2026-11-17 19:33:44.362927+00');
insert into settings (name, value) overriding system value values
('admin_key', '{"keyId": "key_01m7ng0cb33p8gh4rffhfbkhcc", "operatorKeyHash": "166be3fe623908f467b07e923f28a7b1a24e8995f232cd0a2463ca5dde8af06f"}');
insert into sign_in_links (token_hash, user_id, expires_at, created_at) overriding system value values
(E'\\x1d38e99312e06151a5acbc5fdc2510539cbb9c56c70d6c6dd40f81765cc8d8d4', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', '2026-11-17 19:48:44.349+00', '2026-11-17 19:33:44.349+00'),
(E'\\xb3ba5bde5692b958178a2041714f809666a40099e48ff78075b8dbfe3858d308', 'usr_01m7ng0caz0vyqnhjg9yss436k', '2026-11-18 19:33:40.823+00', '2026-11-17 19:33:40.823+00');
insert into tool_servers (id, owner_id, name, url, connection_type, auth_type, auth_header, sealed_credential, status, last_error, revision, created_at, updated_at) overriding system value values
('mcp_01m7ng0r2gd5egasp2jb37bf1h', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'tools', 'http://127.0.0.1:9/mcp', 'streamable_http', NULL, NULL, NULL, 'unreachable', 'The server could not be reached: the connection was refused', '1', '2026-11-17 19:33:53.087508+00', '2026-11-17 19:33:53.087508+00');
insert into upload_totals (user_id, bytes) overriding system value values
('usr_01m7ng0dh5ckcm9mntfngbkpey', '39'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '6');
insert into usage (request_id, user_id, model_name, route, status, created_at, inference_ms, input_tokens, output_tokens, cached_tokens, price_micros, key_id, reserved_micros, cache_write_tokens) overriding system value values
('pred_01m7ng0fz66fkkb0f28axh232b', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.645336+00', '18', NULL, NULL, NULL, '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1000', '0'),
('pred_01m7ng0g3248fhz08vhdsx1a91', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.707831+00', '15', '10', '20', NULL, '500', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '82700', '0'),
('pred_01m7ng0g491zettw8m2hhr34x7', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.728772+00', '4', NULL, NULL, NULL, '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1000', '0'),
('pred_01m7ng0g510vt2qmsjeng3qc4z', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.756964+00', '8', '10', '20', NULL, '500', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '82700', '0'),
('pred_01m7ng0g63a785m96k8j5ax2r9', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/make', 'sync', '200', '2026-11-17 19:33:44.781729+00', '4', NULL, NULL, NULL, '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1000', '0'),
('pred_01m7ng0g6r01yhyx2wt6r7nz45', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/say', 'stream', '200', '2026-11-17 19:33:44.814148+00', '9', '10', '20', NULL, '500', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '82700', '0'),
('pred_01m7ng0g7k1dk9r337eqdsyssx', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/make', 'sync', '502', '2026-11-17 19:33:45.950262+00', '1103', NULL, NULL, NULL, '0', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1000', '0'),
('pred_01m7ng0hdk9b3tgm8n3jyj2bfk', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/say', 'stream', '502', '2026-11-17 19:33:46.07289+00', '7', NULL, NULL, NULL, '0', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '82690', '0'),
('pred_01m7ng0hge1r2dfye2pqtdxv2n', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.15479+00', '10', NULL, NULL, NULL, '1000', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0hjpdzrkm3654n9d9vn3', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.23903+00', '25', '10', '20', NULL, '500', 'key_01m7ng0fksbk86swrse0gbvhen', '82700', '0'),
('pred_01m7ng0hm62kpr6r8d38b6krj8', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.26506+00', '3', NULL, NULL, NULL, '1000', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0hnmf5s7dm0mfztzyt8m', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.323153+00', '20', '10', '20', NULL, '500', 'key_01m7ng0fksbk86swrse0gbvhen', '82700', '0'),
('pred_01m7ng0hq3cdnesg7p5f52p3cn', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'sync', '200', '2026-11-17 19:33:46.401283+00', '10', NULL, NULL, NULL, '1000', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0hspezxzvj4vyvahw8aq', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'stream', '200', '2026-11-17 19:33:46.462392+00', '19', '10', '20', NULL, '500', 'key_01m7ng0fksbk86swrse0gbvhen', '82700', '0'),
('pred_01m7ng0hvp5t38qq97416jvht2', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'sync', '502', '2026-11-17 19:33:47.693206+00', '1196', NULL, NULL, NULL, '0', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0k24bdb4p6rmr5ys4sj2', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'stream', '502', '2026-11-17 19:33:47.725449+00', '4', NULL, NULL, NULL, '0', 'key_01m7ng0fksbk86swrse0gbvhen', '82690', '0'),
('pred_01m7ng0k2t1357hqgwa7z9mhx5', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.765178+00', '11', NULL, NULL, NULL, '1000', 'key_01m7ng0fns5cymsjkf6pswzrd1', '1000', '0'),
('pred_01m7ng0k4g84bwpa5f8kdmsay4', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.822742+00', '8', '10', '20', NULL, '500', 'key_01m7ng0fns5cymsjkf6pswzrd1', '82700', '0'),
('pred_01m7ng0k5j2mb2awcfs1pqhtnz', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.845178+00', '3', NULL, NULL, NULL, '1000', 'key_01m7ng0fns5cymsjkf6pswzrd1', '1000', '0'),
('pred_01m7ng0k6d9zw7tzs0qpwjkmy5', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.879818+00', '10', '10', '20', NULL, '500', 'key_01m7ng0fns5cymsjkf6pswzrd1', '82700', '0'),
('pred_01m7ng0k7e3qgtrpf98d6a65na', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/make', 'sync', '200', '2026-11-14 19:33:47.900881+00', '3', NULL, NULL, NULL, '1000', 'key_01m7ng0fns5cymsjkf6pswzrd1', '1000', '0'),
('pred_01m7ng0k8222zd6v56g4583m3f', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/say', 'stream', '200', '2026-11-14 19:33:47.926542+00', '6', '10', '20', NULL, '500', 'key_01m7ng0fns5cymsjkf6pswzrd1', '82700', '0'),
('pred_01m7ng0k8z3ryrnjz96cn8fe92', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/make', 'sync', '502', '2026-11-14 19:33:49.149857+00', '1205', NULL, NULL, NULL, '0', 'key_01m7ng0fns5cymsjkf6pswzrd1', '1000', '0'),
('pred_01m7ng0mfzd57vs2n021ychdtr', 'usr_01m7ng0fmd5848w8pvkbrzyr4h', 'admin/say', 'stream', '502', '2026-11-14 19:33:49.225777+00', '11', NULL, NULL, NULL, '0', 'key_01m7ng0fns5cymsjkf6pswzrd1', '82690', '0'),
('pred_01m7ng0mhz6vn12n96a4gkrtzr', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'sync', '200', '2026-11-17 19:33:49.297031+00', '13', NULL, NULL, NULL, '1000', 'key_01m7ng0fyt45zxjb61fk08pr68', '1000', '0'),
('pred_01m7ng0mmc012a2y96kthd36qg', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'stream', '200', '2026-11-17 19:33:49.346313+00', '7', '10', '20', NULL, '500', 'key_01m7ng0fyt45zxjb61fk08pr68', '82690', '0'),
('pred_01m7ng0mnh3anz9pctvkpdwwpy', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/make', 'async', '200', '2026-11-17 19:33:49.437569+00', '11', NULL, NULL, NULL, '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1000', '0'),
('pred_01m7ng0mtz3my10sc6cdf2sm96', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/say', 'async', '200', '2026-11-17 19:33:49.619703+00', '16', '10', '20', NULL, '500', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '82690', '0'),
('pred_01m7ng0mz57j6xem8m03hpdskz', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'async', '200', '2026-11-17 19:33:49.740853+00', '19', NULL, NULL, NULL, '1000', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0n2ydg0q7277y53vj7nj', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'async', '200', '2026-11-17 19:33:49.872179+00', '35', '10', '20', NULL, '500', 'key_01m7ng0fksbk86swrse0gbvhen', '82690', '0'),
('pred_01m7ng0n6v0qt2acrx77srqy76', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'async', '200', '2026-11-17 19:33:49.945316+00', '5', NULL, NULL, NULL, '1000', 'key_01m7ng0fyt45zxjb61fk08pr68', '1000', '0'),
('pred_01m7ng0n8g2f5krfk9hhm4ty7b', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/say', 'async', '200', '2026-11-17 19:33:49.981932+00', '8', '10', '20', NULL, '500', 'key_01m7ng0fyt45zxjb61fk08pr68', '82690', '0'),
('pred_01m7ng0n9fbsvqj1jskndf8j6f', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/make', 'async', '499', '2026-11-17 19:33:50.518826+00', '509', NULL, NULL, NULL, '0', 'key_01m7ng0fksbk86swrse0gbvhen', '1000', '0'),
('pred_01m7ng0nva571vvm5c3npz4sgb', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'gantry/image', 'sync', '200', '2026-11-17 19:33:52.462543+00', '1835', NULL, NULL, NULL, '30000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '30000', '0'),
('pred_01m7ng0s3503x3wq2nah544n4h', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:54.001281+00', '7', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2670', '0'),
('pred_01m7ng0s7j1dct9zxt8sf4rxts', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:54.744779+00', '7', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2760', '0'),
('pred_01m7ng0t3j7ps1q1b77n1xy5tz', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.079232+00', '5', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '1610', '0'),
('pred_01m7ng0tapfb1rfzj6pr1yz6k7', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.215916+00', '3', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2670', '0'),
('pred_01m7ng0tcq4tfgz85ysc0gtxn0', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.305847+00', '4', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2760', '0'),
('pred_01m7ng0tjp9d45f5rwvhx03z64', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.439674+00', '6', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2760', '0'),
('pred_01m7ng0tn19bk8tm33785en0fq', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.534552+00', '4', '100', '190', '0', '1000', 'key_01m7ng0fksbk86swrse0gbvhen', '1370', '0'),
('pred_01m7ng0tqw8g1ewzmz883sk9x5', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'alice/own', 'agent', '200', '2026-11-17 19:33:55.626816+00', '2', '100', '190', '0', '1000', NULL, '1370', '0'),
('pred_01m7ng0tve69fqaykjh0gpv9fb', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.738696+00', '2', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2670', '0'),
('pred_01m7ng0v3db04jnkbqx6nh600y', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:55.95885+00', '1', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '3480', '0'),
('pred_01m7ng0v4j9j28nydrwpnvtkpx', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'admin/llm', 'agent', '200', '2026-11-17 19:33:56.01588+00', '1', '100', '20', '0', '1000', 'key_01m7ng0dnm7vx21j5rrh1x2db4', '2670', '0'),
('run_01m7ng0tn19bk7yb82tfcfwn29', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'agents/alice/plain-market', 'agent', '200', '2026-11-17 19:33:55.543839+00', NULL, NULL, NULL, NULL, '250000', 'key_01m7ng0fksbk86swrse0gbvhen', '250000', '0');
insert into usage_days (user_id, day, model_name, requests, paid_requests, spent_micros) overriding system value values
('usr_01m7ng0fmd5848w8pvkbrzyr4h', '2026-11-14 00:00:00+00', 'admin/make', '4', '3', '3000'),
('usr_01m7ng0fmd5848w8pvkbrzyr4h', '2026-11-14 00:00:00+00', 'admin/say', '4', '3', '1500');
insert into usage_hours (user_id, hour, model_name, requests, paid_requests, spent_micros) overriding system value values
('usr_01m7ng0dh5ckcm9mntfngbkpey', '2026-11-17 19:00:00+00', 'admin/llm', '9', '9', '9000'),
('usr_01m7ng0dh5ckcm9mntfngbkpey', '2026-11-17 19:00:00+00', 'admin/make', '5', '4', '4000'),
('usr_01m7ng0dh5ckcm9mntfngbkpey', '2026-11-17 19:00:00+00', 'admin/say', '5', '4', '2000'),
('usr_01m7ng0dh5ckcm9mntfngbkpey', '2026-11-17 19:00:00+00', 'alice/own', '1', '1', '1000'),
('usr_01m7ng0dh5ckcm9mntfngbkpey', '2026-11-17 19:00:00+00', 'gantry/image', '1', '1', '30000'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '2026-11-17 19:00:00+00', 'admin/llm', '1', '1', '1000'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '2026-11-17 19:00:00+00', 'admin/make', '8', '6', '6000'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '2026-11-17 19:00:00+00', 'admin/say', '7', '6', '3000'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '2026-11-17 19:00:00+00', 'agents/alice/plain-market', '1', '1', '250000'),
('usr_01m7ng0fmd5848w8pvkbrzyr4h', '2026-11-14 19:00:00+00', 'admin/make', '4', '3', '3000'),
('usr_01m7ng0fmd5848w8pvkbrzyr4h', '2026-11-14 19:00:00+00', 'admin/say', '4', '3', '1500');
insert into usage_marks (only_one, days_before, horizon, charged_micros) overriding system value values
('true', '2026-11-17 00:00:00+00', '2025-10-01 00:00:00+00', '4500');
insert into users (id, username, role, plan, password_hash, created_at, disabled_at) overriding system value values
('usr_01m7ng0caqcz474res8c5508bn', 'gantry', 'system', 'unlimited', NULL, '2026-11-17 19:33:40.823+00', NULL),
('usr_01m7ng0cat3vd7hn9nayhwq18w', 'anthropic', 'system', 'unlimited', NULL, '2026-11-17 19:33:40.823+00', NULL),
('usr_01m7ng0caz0vyqnhjg9yss436k', 'admin', 'admin', 'unlimited', NULL, '2026-11-17 19:33:40.823+00', NULL),
('usr_01m7ng0dh5ckcm9mntfngbkpey', 'alice', 'user', 'unlimited', NULL, '2026-11-17 19:33:42.053+00', NULL),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', 'bob', 'user', 'pro', NULL, '2026-11-17 19:33:42.242+00', NULL),
('usr_01m7ng0fmd5848w8pvkbrzyr4h', 'carol', 'user', 'gold', NULL, '2026-11-17 19:33:44.205+00', NULL),
('usr_01m7ng0fpx3gzxkr9phpg4h3pm', 'dave', 'user', 'free', NULL, '2026-11-17 19:33:44.285+00', '2026-11-17 19:33:44.306+00');
insert into wallets (user_id, balance_micros, reserved_micros, running, hits) overriding system value values
('usr_01m7ng0caqcz474res8c5508bn', '0', '0', '0', '{}'),
('usr_01m7ng0cat3vd7hn9nayhwq18w', '0', '0', '0', '{}'),
('usr_01m7ng0caz0vyqnhjg9yss436k', '100000000', '0', '0', '{}'),
('usr_01m7ng0dh5ckcm9mntfngbkpey', '10204000', '1360', '1', '{}'),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '4240000', '2000', '0', '{1794944026128,1,1794944026200,1,1794944026247,1,1794944026294,1,1794944026349,1,1794944026432,1,1794944026488,1,1794944027718,1,1794944029252,1,1794944029328,1,1794944029680,1,1794944029793,1,1794944029916,1,1794944029970,1,1794944030000,1,1794944035467,1,1794944035574,1,1794944042656,1}'),
('usr_01m7ng0fmd5848w8pvkbrzyr4h', '1995500', '4000', '1', '{1794944027739,1,1794944027795,1,1794944027827,1,1794944027855,1,1794944027887,1,1794944027907,1,1794944027936,1,1794944029188,1,1794944042449,1,1794944042593,1}'),
('usr_01m7ng0fpx3gzxkr9phpg4h3pm', '0', '0', '0', '{}');
insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, status, attempts, failures, due_at, claimed_by, claim, resend, last_status, last_error, latency_ms, created_at, delivered_at, trace) overriding system value values
('dlv_01m7ng0mrv75v0bqwan9ma34s5', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'pred_01m7ng0mnh3anz9pctvkpdwwpy', 'admin/make', 'http://127.0.0.1:34047', E'\\x01f68beba8d50a3af57b007a6c75a6b5b52f518301ea7f9c2bcc7d17271519d4bcff0a2d0c04dcd296ef29ab40920bb7e5f065b6519e76ccdac4df171eb5c35a2fbe061beeb98f574d87e4631e8130d37fd3925ff975ba3b661a61fad13ab7ff30e44631', '{"prediction_id":"pred_01m7ng0mnh3anz9pctvkpdwwpy","model":"admin/make","infer_details":{"status":200,"user_id":"usr_01m7ng0dh5ckcm9mntfngbkpey","request_id":"pred_01m7ng0mnh3anz9pctvkpdwwpy","inference_time":0.011,"stream_details":null},"response":{"output":"made of m"},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '4', '2026-11-17 19:33:49.472587+00', '2026-11-17 19:33:54.565123+00', NULL),
('dlv_01m7ng0mxmb21cqpx11yhxkvzm', 'usr_01m7ng0dh5ckcm9mntfngbkpey', 'pred_01m7ng0mtz3my10sc6cdf2sm96', 'admin/say', 'http://127.0.0.1:34047', E'\\x01b6d01e703e107deb93959e450447e222d75331d41fe7ac338694e351bc507eb27b99f07ae1605071625a1b58e19562aa31f7be3e693669f1811194a13454d17c96b76b19ea18433458bb5742a6ad266dc01ba2a65d8be69b6b869cccc8c49e5ea35b6f', '{"prediction_id":"pred_01m7ng0mtz3my10sc6cdf2sm96","model":"admin/say","infer_details":{"status":200,"user_id":"usr_01m7ng0dh5ckcm9mntfngbkpey","request_id":"pred_01m7ng0mtz3my10sc6cdf2sm96","inference_time":0.016,"stream_details":{"input_tokens":10,"output_tokens":20}},"response":{"output":"word0 word1 word2 word3 word4 "},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '6', '2026-11-17 19:33:49.629224+00', '2026-11-17 19:33:54.932104+00', NULL),
('dlv_01m7ng0n1h5n6qwgzr538dxqz3', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'pred_01m7ng0mz57j6xem8m03hpdskz', 'admin/make', 'http://127.0.0.1:34047', E'\\x018d0bcea3968ba721d6080be0208a0bf4d466841d8827905c2ef8b920d551851c24602e7461e467f7a2a22524858fd485075e45855998f584bed395525cd62d5205ee0efdbcee3540251228310d870fdc60cdf74b5350af27914af9e7300308e818ea09', '{"prediction_id":"pred_01m7ng0mz57j6xem8m03hpdskz","model":"admin/make","infer_details":{"status":200,"user_id":"usr_01m7ng0dq2f5rvfp455ae5ckjc","request_id":"pred_01m7ng0mz57j6xem8m03hpdskz","inference_time":0.019,"stream_details":null},"response":{"output":"made of m"},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '2', '2026-11-17 19:33:49.751255+00', '2026-11-17 19:33:54.014281+00', NULL),
('dlv_01m7ng0n645d69664fryvrjf9j', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'pred_01m7ng0n2ydg0q7277y53vj7nj', 'admin/say', 'http://127.0.0.1:34047', E'\\x01807dbd3c1ef0d976413fd4e2e70302c388dc383461ca2b63a4dfb32525618f6c473ef46ea01dbf118c76b95f9021efd3ab623df1e314b966f1d9493f594961c469a860984f729f8522a99a2bf495f3dc12a1371ddc08a2ec0ac625c52faccbba4fe614', '{"prediction_id":"pred_01m7ng0n2ydg0q7277y53vj7nj","model":"admin/say","infer_details":{"status":200,"user_id":"usr_01m7ng0dq2f5rvfp455ae5ckjc","request_id":"pred_01m7ng0n2ydg0q7277y53vj7nj","inference_time":0.035,"stream_details":{"input_tokens":10,"output_tokens":20}},"response":{"output":"word0 word1 word2 word3 word4 "},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '1', '2026-11-17 19:33:49.898048+00', '2026-11-17 19:33:55.73624+00', NULL),
('dlv_01m7ng0n7z5y6pqp44b5t4dfgf', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'pred_01m7ng0n6v0qt2acrx77srqy76', 'admin/make', 'http://127.0.0.1:34047', E'\\x019f7d8885bb8877b9bc9d95b60944454a09a41f4f574f4781d32456ad3dd2c6a1f2256ff7fc6bf4399e7e9931376b8e9f220bd471c82f53892447b4e10e1d61091b48f382d4a98336b1f6d8c348d21bf6d1cb941646a950ab7b940b820bca86607947da', '{"prediction_id":"pred_01m7ng0n6v0qt2acrx77srqy76","model":"admin/make","infer_details":{"status":200,"user_id":"usr_01m7ng0dq2f5rvfp455ae5ckjc","request_id":"pred_01m7ng0n6v0qt2acrx77srqy76","inference_time":0.005,"stream_details":null},"response":{"output":"made of m"},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '9', '2026-11-17 19:33:49.959897+00', '2026-11-17 19:33:55.110285+00', NULL),
('dlv_01m7ng0n8z9xbckyzqvf3045sx', 'usr_01m7ng0dq2f5rvfp455ae5ckjc', 'pred_01m7ng0n8g2f5krfk9hhm4ty7b', 'admin/say', 'http://127.0.0.1:34047', E'\\x01fdbcb6f89bf876e6ff6ab493bc2fbf561f2e8e569400534ff34eb3d13dc6ba3af85ae0de6719a40347bacfa6856dba47787988350852e97370a31dd0ff60121bfbce4b192cb162c2c1abc051bc87733dff0f7abd5b3b83c5620f60d73e0fb46ca44af9', '{"prediction_id":"pred_01m7ng0n8g2f5krfk9hhm4ty7b","model":"admin/say","infer_details":{"status":200,"user_id":"usr_01m7ng0dq2f5rvfp455ae5ckjc","request_id":"pred_01m7ng0n8g2f5krfk9hhm4ty7b","inference_time":0.008,"stream_details":{"input_tokens":10,"output_tokens":20}},"response":{"output":"word0 word1 word2 word3 word4 "},"files":{}}', 'delivered', '2', '1', NULL, NULL, '2', 'false', '200', NULL, '15', '2026-11-17 19:33:49.984805+00', '2026-11-17 19:33:54.874986+00', NULL);
insert into webhook_secrets (user_id, number, sealed, created_at, expires_at) overriding system value values
('usr_01m7ng0dh5ckcm9mntfngbkpey', '1', E'\\x0192b6aa27ac8b0197e75fe240f09fdc2dbc90fba1843049637dc74ed152d91571718d7f1aa38fc9a10c30a754a7e01e53fe433040ea53d9bd69f81f5c219be94dbb6977d5dbbcfd59dbf21f2bc6c0', '2026-11-17 19:33:49.552+00', NULL),
('usr_01m7ng0dq2f5rvfp455ae5ckjc', '1', E'\\x01ba51b809ea5e920fdd4bec3d34f3fed4e02c00468af7141474aed4faaf3ebbb5dfa8e8be0d7099d750db2673e15491d172fe9a17c3833a2eb212edab763572e7eba0e114c42b80ef797fe3e98aab', '2026-11-17 19:33:49.824+00', NULL);
select setval('ledger_id_seq', 45, true);
select setval('model_ids', 10, true);
reset session_replication_role;
reset check_function_bodies;
