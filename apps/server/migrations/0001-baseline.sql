-- The tables of Gantry, by feature. Functions are in `src/features/*/sql`; only those of triggers are here, beside their
-- tables, because a trigger cannot exist without its function.
--
-- Rules for every table:
-- - Amounts of money are whole millionths of a dollar (`_micros`).
-- - `json`, not `jsonb`, where people see the value again: the order of fields and a NUL inside a text survive.
-- - Tables that are written once per prediction have no foreign keys. Users and models are never deleted, and each key
--   would lock a row of theirs at every insert.

-- Accounts ------------------------------------------------------------------------------------------------------------

-- A null limit means unlimited.
create table plans (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  parallel integer check (parallel > 0),
  -- Null: the setting GANTRY_UPLOAD_BYTES_PER_USER. 0: no quota.
  storage_bytes bigint check (storage_bytes >= 0)
);

insert into plans (name, requests_per_minute, parallel) values
  ('free', 60, 4),
  ('pro', 600, 32),
  ('unlimited', null, null);

-- Values that the service keeps between starts.
create table settings (
  name text primary key,
  value jsonb not null
);

-- The role `system` owns the built-in models. Such a user has no keys and no password, and user management hides it.
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

-- Changing a user counts the remaining admins.
create index users_active_admins on users (id) where role = 'admin' and disabled_at is null;
-- Lists leave out what belongs to disabled users, who are few.
create index users_disabled on users (id) where disabled_at is not null;

-- `public` and `secret_hash` are the current pair of a key. One SHA-256 of the whole key is enough: a key has 200 bits of
-- randomness, so no dictionary can guess it, and a slow hash would cost every request milliseconds.
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
  -- Exact to the minute, written outside the path of requests.
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- For a key that a sign-in link created: the session ends then. Runs that it started go on, so `expires_at` stays open.
  session_ends_at timestamptz
);

create index api_keys_of_user on api_keys (user_id, id desc) where revoked_at is null;
create index api_keys_of_sessions on api_keys (session_ends_at) where session_ends_at is not null and revoked_at is null;

-- Earlier pairs of a rotated key, and the pairs of sessions. Each works until its time is over, so that clients can change
-- one by one.
create table retired_key_pairs (
  public text primary key check (length(public) = 12),
  key_id text not null references api_keys (id) on delete cascade,
  secret_hash bytea not null check (length(secret_hash) = 32),
  valid_until timestamptz not null,
  -- Accepted in a cookie only.
  of_session boolean not null default false,
  -- For a session: a rotation has replaced the secret that opened it. Other pairs are always in grace.
  in_grace boolean not null default false
);

create index retired_key_pairs_of_key on retired_key_pairs (key_id);

-- Links that sign a person in to the console, each once. Only the SHA-256 of the token is stored.
create table sign_in_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  user_id text not null references users (id),
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index sign_in_links_expiry on sign_in_links (expires_at);

-- Nodes ---------------------------------------------------------------------------------------------------------------

-- One row per running process. A process without a heartbeat for ten seconds loses what it holds.
create table nodes (
  id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  -- Proves which secret key the node works with, without revealing it. Nodes with another key are refused.
  key_proof text,
  -- The file store that the node works with. Nodes with another one are refused.
  file_store text
);

-- The latest moment of the database's clock that was believed, and for how long the clock has shown a doubtful time since
-- (features/trusted-clock).
create table clock_marks (
  only_one boolean primary key default true check (only_one),
  trusted_until timestamptz not null,
  steady_ms bigint not null default 0
);

insert into clock_marks (trusted_until) values (clock_timestamp());

-- Models --------------------------------------------------------------------------------------------------------------

create sequence model_ids;

-- The row of a retired model stays, because predictions refer to its id. Its name may be used again, by another row.
create table models (
  id text primary key default 'mdl_' || nextval('model_ids'),
  -- The endpoint id is the owner's username, a slash and the name. Usernames never change.
  owner_id text not null references users (id),
  name text not null,
  -- Its fields are shown in this order.
  manifest json not null,
  -- Counts the changes, from 1.
  version integer not null default 1,
  -- The shipped manifest that a built-in model was last updated to; null for all others. Fields in which `manifest`
  -- differs were patched by the operator and stay as they are.
  seeded json,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  retired_at timestamptz,
  -- Generated, so that they cannot differ from the manifest.
  kind text not null generated always as (manifest ->> 'kind') stored,
  visibility text not null generated always as (manifest ->> 'visibility') stored,
  capacity integer not null generated always as ((manifest ->> 'capacity')::integer) stored,
  -- The username of `owner_id`, written with the row.
  owner text,
  -- {at, reason, visibility}: an admin has hidden the model from everyone but its owner. `visibility` is restored later.
  taken_down jsonb,
  search_text text generated always as (lower(owner || '/' || name || ' ' || (manifest ->> 'title'))) stored,
  check (visibility in ('public', 'private')),
  check (capacity >= 0),
  check (taken_down is null or visibility = 'private')
);

create unique index models_endpoint on models (owner_id, name) where retired_at is null;
-- Holds everything that a page is chosen by, so that only the rows of that page are read.
create index models_listed on models (owner, name) include (id, owner_id, visibility, kind, search_text)
  where retired_at is null;

-- Files ---------------------------------------------------------------------------------------------------------------

-- Who may read which object of the blob store. The row exists before the bytes do, so a crash leaves no unknown object.
create table files (
  -- The object's key in the blob store; clients see `s3://<bucket>/<key>`.
  key text primary key,
  id text not null unique,
  owner_id text not null,
  -- uploaded: sent to the server; link: sent to the store by a signed link; output: created by a prediction.
  origin text not null check (origin in ('uploaded', 'link', 'output')),
  state text not null default 'awaiting' check (state in ('awaiting', 'stored')),
  -- While awaiting: what the caller declared, if anything. Once stored: the type of the file, as a bare media type.
  content_type text,
  size bigint,
  -- The version of the object that size and type were read from. A link can be used again until it expires.
  etag text,
  max_bytes bigint not null,
  prediction_id text,
  created_at timestamptz not null,
  stored_at timestamptz,
  -- The key that uploaded it; a key limited to models sees only its own uploads.
  key_id text,
  check ((origin = 'output') = (prediction_id is not null)),
  check (state = 'awaiting'
    or (size is not null and content_type is not null and etag is not null and stored_at is not null))
);

create index files_awaiting on files (created_at) where state = 'awaiting';
create index files_of_prediction on files (prediction_id) where prediction_id is not null;
create index files_of_owner on files (owner_id, id desc);
-- Finds expired uploads among outputs, which have another retention.
create index files_uploaded on files (coalesce(stored_at, created_at)) where origin <> 'output';

-- Counted in the transaction that changes a file, so that one row decides about the quota for all servers.
create table upload_totals (
  user_id text primary key,
  bytes bigint not null
);
comment on table upload_totals is 'Bytes that each user stores in uploads and drives; outputs of predictions are not counted.';

-- Objects of deleted files. A row is removed after the bytes, so a crash in between leaves no unknown object. An upload
-- link that is still valid can bring bytes again: its row stays until the link expires.
create table deleted_files (
  key text primary key,
  collect_after timestamptz not null
);

create index deleted_files_due on deleted_files (collect_after);

-- Upload links that were not checked since they expired. An S3 server accepts bytes without telling the server, even
-- after the file was used and counted. Each link is checked once more when it has expired, and then its row goes.
create table open_links (
  key text primary key,
  created_at timestamptz not null
);

create index open_links_since on open_links (created_at);

-- Drives --------------------------------------------------------------------------------------------------------------

-- A drive is a named tree of files. Names are rows here; bytes are objects of the blob store under random keys, so no path
-- reaches the store.
create table drives (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  description text,
  created_at timestamptz not null
);

create index drives_of_owner on drives (owner_id, created_at desc, id desc);

-- Files, and their directories: a directory has a row as long as it contains a file. Both share one key, so that a path is
-- never a file and a directory. Paths are compared byte by byte: everything under `/a` lies between `/a/` and `/a0`.
-- Changing the items of a drive requires the lock of the drive's row.
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

-- Objects of the blob store without a file: being written, replaced, or deleted. The row exists before the bytes and goes
-- after them, so a crash leaves a row and never unknown bytes.
create table drive_loose_blobs (
  key text primary key,
  collect_after timestamptz not null,
  -- Being deleted: no file may take it.
  is_doomed boolean not null default false
);

create index drive_loose_blobs_due on drive_loose_blobs (collect_after);

-- Secrets, tool servers, connectors -----------------------------------------------------------------------------------

-- Credentials are sealed with the server's secret key. The API never returns them.

-- For the backends of a user's models and for tool servers.
create table secrets (
  owner_id text not null references users (id),
  name text not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (owner_id, name)
);

-- The MCP servers whose tools a user's agents may call.
create table tool_servers (
  id text primary key,
  owner_id text not null references users (id),
  name text not null,
  url text not null,
  connection_type text not null check (connection_type in ('streamable_http', 'sse')),
  auth_type text check (auth_type in ('bearer', 'api_key')),
  -- The header of an API key.
  auth_header text,
  sealed_credential bytea,
  status text not null check (status in ('connected', 'unauthorized', 'unreachable')),
  last_error text,
  -- Counts the changes: an open connection belongs to one revision.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (owner_id, name),
  check ((auth_type is null) = (sealed_credential is null)),
  check ((auth_type is not distinct from 'api_key') = (auth_header is not null))
);

create index tool_servers_of_owner on tool_servers (owner_id, created_at desc, id desc);

-- The identity tenant that a user's agents manage. What the token says about itself is stored beside it, to be shown.
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

-- Money ---------------------------------------------------------------------------------------------------------------

-- The ledger is a list of transfers. A transfer names both sides and one amount, so the sum over all accounts is always
-- zero. Accounts are names:
--   user:<user id>   a wallet
--   platform         what the platform earned
--   outside          where top-ups come from
-- Rows are never changed or deleted.
create table ledger (
  id bigint generated always as identity primary key,
  recorded_at timestamptz not null default clock_timestamp(),
  kind text not null check (kind in ('credit', 'correction', 'charge', 'sale')),
  from_account text not null,
  to_account text not null,
  amount_micros bigint not null check (amount_micros > 0),
  -- The run that is paid, or the user and day of a charge; at most one transfer of a kind each.
  reference text,
  reason text,
  -- What a credit or correction left in the wallet, so that a repeat with the same Idempotency-Key gets the same answer.
  balance_micros bigint,
  check (from_account <> to_account),
  check (kind not in ('charge', 'sale') or reference is not null),
  check (kind not in ('credit', 'correction') or reason is not null)
);

create unique index ledger_settles_once on ledger (kind, reference) where reference is not null;
create index ledger_from_outside on ledger (id) where from_account = 'outside';
-- The entries of one account, newest first. Payments are many and counted by the sums of usage; corrections are few and
-- counted one by one, so each has its own index.
create index ledger_paid on ledger (from_account, recorded_at desc, id desc) where kind in ('charge', 'sale');
create index ledger_corrected on ledger (from_account, recorded_at desc, id desc) where kind = 'correction';
create index ledger_received on ledger (to_account, recorded_at desc, id desc) where to_account <> 'platform';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

create trigger ledger_is_append_only before update or delete on ledger
  for each row execute function refuse_change();
create trigger ledger_is_not_emptied before truncate on ledger
  for each statement execute function refuse_change();

-- What a user has, and what its work in progress takes. Admission and settlement lock this row before any other of money
-- and limits.
create table wallets (
  user_id text primary key,
  balance_micros bigint not null default 0,
  reserved_micros bigint not null default 0,
  -- Predictions that count towards the plan's parallel limit.
  running integer not null default 0,
  -- Requests of the last minute, as pairs of (milliseconds since 1970, count).
  hits bigint[] not null default '{}',
  -- Usage rows of the user are written under the lock of this row, each later than the one before. So one moment says which
  -- of them are in `usage_hours`, and `unfolded` counts the others.
  folded_until timestamptz not null default '-infinity',
  unfolded integer not null default 0,
  -- Queued predictions and agents' calls that have not started.
  waiting integer not null default 0,
  -- One check a table: PostgreSQL reads and plans each anew for every statement that writes a row.
  constraint wallets_not_negative check (reserved_micros >= 0 and running >= 0 and waiting >= 0)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- What a key with a monthly limit has spent and reserved in a month of UTC.
create table key_months (
  key_id text not null references api_keys (id),
  month date not null,
  spent_micros bigint not null default 0,
  reserved_micros bigint not null default 0 check (reserved_micros >= 0),
  primary key (key_id, month)
) with (fillfactor = 50);

-- One row per ended prediction and sold run. `created_at` is the moment of settlement. So usage, ledger and expenses agree
-- over any range, and a page of a past range does not change when a long run ends later.
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
  cache_write_tokens integer not null default 0,
  -- The protocol of the call, the backend that answered, and who acted for the user that pays.
  door text,
  backend text,
  actor_id text
) partition by range (created_at);

-- What a user paid, newest first: the ledger's list does not go through all that was free.
create index usage_paid on usage (user_id, created_at desc, request_id desc) where price_micros > 0;
create index usage_of_user on usage (user_id, created_at desc, request_id desc);
-- Sums are not kept by key, so the rows of a key are counted.
create index usage_of_key on usage (key_id, created_at desc, request_id desc) where key_id is not null;

-- For rows whose month has no partition yet. The server creates partitions ahead of time.
create table usage_default partition of usage default;

-- Usage summed by hour.
create table usage_hours (
  user_id text not null,
  hour timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, hour, model_name)
) with (fillfactor = 50);

-- The hourly sums by day of UTC. A day is written once it is over (`usage_marks.days_before`).
create table usage_days (
  user_id text not null,
  day timestamptz not null,
  model_name text not null,
  requests integer not null,
  paid_requests integer not null,
  spent_micros bigint not null,
  primary key (user_id, day, model_name)
);

-- For reads over all users. Rows arrive in the order of time, so a BRIN index of a few kilobytes is enough, and it lets
-- updates stay on their page.
create index usage_hours_by_time on usage_hours using brin (hour) with (pages_per_range = 16, autosummarize = on);
create index usage_days_by_time on usage_days using brin (day) with (pages_per_range = 16, autosummarize = on);

-- One row: the progress of the upkeep of usage. Null means "not yet".
create table usage_marks (
  only_one boolean primary key default true check (only_one),
  -- Every day before this one is in `usage_days`. A midnight of UTC.
  days_before timestamptz,
  -- Usage rows before this moment are deleted, their sums are not. The first moment of a month of UTC.
  horizon timestamptz,
  -- The cost of all predictions on days before `days_before`, without sales.
  charged_micros bigint not null default 0,
  -- Charges of usage before this moment are entries of the ledger.
  charges_until timestamptz not null default '-infinity'
);

insert into usage_marks (charges_until) values (clock_timestamp());

-- Predictions ---------------------------------------------------------------------------------------------------------

-- A prediction is a row of `live_predictions` until it ends, and a row of `ended_predictions` afterwards. Ending deletes the
-- live row and inserts the ended one in one transaction. Only one transaction can delete a row, so a prediction ends once.
--
-- Plans are made while these tables are small, when every index looks equally good, and kept while they grow. So each query
-- must have only the right index to choose: conditions that hold for every row (`user_id > ''`) hide an index from queries
-- that do not name them.

-- How many run and how many wait, per model. Counters, because counting rows under a lock would use a snapshot older than
-- the lock.
create table model_slots (
  model_id text primary key,
  running integer not null default 0,
  waiting integer not null default 0,
  -- When a worker last took one of the model's predictions: models take turns.
  served_at timestamptz not null default '-infinity',
  constraint model_slots_not_negative check (running >= 0 and waiting >= 0)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

create index model_slots_with_line on model_slots (model_id) where waiting > 0;

create table live_predictions (
  id text primary key,
  user_id text not null,
  -- Null for a sponsored call: the agent's creator pays, and no key of the creator made the call.
  key_id text,
  model_id text not null,
  model_name text not null,
  -- sync | stream | async | agent
  route text not null,
  high_priority boolean not null default false,
  -- The node that executes it or holds its connection; null while a queued one waits for a worker.
  holder text,
  -- Counts the executions. Only the current claim may end the prediction.
  claim integer not null default 1,
  -- How many workers died with it.
  deaths integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- Null while it waits for capacity.
  started_at timestamptz,
  -- The deadline for waiting.
  queue_until timestamptz not null,
  -- What a worker needs to run a queued one: the checked input with files as blob keys, the prices at acceptance, the base
  -- of links, and the sealed target of the webhook.
  input json,
  pricing json,
  base_url text,
  webhook_destination text,
  webhook_target bytea,
  -- Fixed at acceptance, like the month that counts towards the key's limit.
  reserved_micros bigint not null default 0,
  key_month date,
  -- Whether it counts towards its user's parallel limit: with a client from acceptance on, a queued one once it runs.
  counts_parallel boolean not null default false,
  -- The reserved amounts of a queued one, in the units of its prices. The charge stays within them.
  bounds json,
  run_id text,
  door text,
  backend text,
  actor_id text
) with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02);

create index live_predictions_running on live_predictions (model_id, user_id) where started_at is not null;
create index live_predictions_calls on live_predictions (holder) where route = 'agent' and started_at is null;
create index live_predictions_overdue on live_predictions (queue_until)
  where started_at is null and queue_until > '-infinity';
-- The queue of a model, user by user: nobody waits behind another user's backlog.
create index live_predictions_places on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null;
create index live_predictions_waiting_clients on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and holder is not null and route <> 'agent';
-- Sponsored calls wait for their model's capacity only: other users' runs are bounded by their own plans.
create index live_predictions_sponsored on live_predictions (model_id, user_id, high_priority, created_at)
  where started_at is null and key_id is null;

-- The users in a model's queue, and when each was last served. Walked in this order a queue is fair, however long it is.
create table model_lines (
  model_id text not null,
  user_id text not null,
  high_priority boolean not null,
  last_turn timestamptz not null default '-infinity',
  -- How many of the user's predictions run on the model.
  running integer not null default 0,
  -- Nobody in the line came before this moment, so that a look for the next does not pass over those who have gone.
  head timestamptz not null default '-infinity',
  primary key (model_id, user_id, high_priority)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05);

create index model_lines_in_turn on model_lines (model_id, high_priority desc, last_turn) where user_id > '';

-- Accepted and ended predictions of the last seconds, for the figures of a queue.
create table model_flow (
  model_id text not null,
  second bigint not null,
  accepted integer not null default 0,
  ended integer not null default 0,
  primary key (model_id, second)
) with (fillfactor = 50);

-- The transcript of a live prediction that has a follower, in fragments of a quarter of a second. Deleted when it ends.
create table prediction_fragments (
  prediction_id text not null,
  claim integer not null,
  seq integer not null,
  field text not null,
  fragment text not null,
  primary key (prediction_id, claim, seq)
);

-- The W3C traceparent of the request of a queued prediction. Written for traced requests only; a lost row costs a link.
create table prediction_traces (
  prediction_id text primary key,
  trace text not null,
  created_at timestamptz not null default now()
);

create index prediction_traces_age on prediction_traces (created_at);

-- Written once, never changed.
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
  -- The issues of its error, without links: those depend on the address that the reader uses.
  error json,
  input_tokens integer,
  output_tokens integer,
  cached_tokens integer,
  stream_details json,
  -- The transcript of a streaming model that failed or was cancelled. Null if it succeeded or produced nothing.
  said json,
  cache_write_tokens integer not null default 0,
  run_id text,
  door text,
  backend text,
  actor_id text,
  input json,
  price_micros bigint not null default 0,
  reserved_micros bigint
);

-- Answers to requests with an Idempotency-Key, for a day.
create table idempotency_keys (
  user_id text not null,
  scope text not null,
  key text not null,
  fingerprint text not null,
  prediction_id text not null,
  created_at timestamptz not null default now(),
  -- The node that is about to accept the prediction. If it dies first, a repeated request need not wait.
  taken_by text,
  primary key (user_id, scope, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

-- The requests of a wallet's last minute, and the time of the oldest.
create type request_window as (requests integer, oldest_ms bigint);

-- What becomes of an arrival, and what the plan's minute allows after it.
create type admission as (
  verdict text, rate_limit integer, rate_remaining integer, rate_reset_ms bigint, retry_after_ms bigint
);
-- While arrivals are decided: what a wallet, a key and a model have left, and what is to be added to their rows.
create type wallet_state as (
  user_id text, available bigint, running integer, parallel integer, per_minute integer, minute request_window,
  more_reserved bigint, more_running integer, more_waiting integer, more_requests integer
);
create type key_state as (id text, monthly_limit bigint, used bigint, more bigint);
create type model_state as (
  model_id text, capacity integer, is_retired boolean, running integer, waiting integer, more_running integer,
  more_waiting integer
);
-- What ends take from a wallet, or from the slots of a model.
create type account_change as (price bigint, reserved bigint, running integer, waiting integer, n integer);
-- What comes to be admitted. A value that is not known is null.
create type prediction_arrival as (
  id text, user_id text, key_id text, model_id text, model_name text, route text, high_priority boolean,
  reservation bigint, queue_seconds double precision, purpose text, run_id text, must_be_covered boolean,
  sponsored boolean, hand_free boolean, input text, pricing text, bounds text, base_url text, webhook_destination text,
  webhook_target text, door text, backend text, actor_id text
);
-- What a prediction came to.
create type prediction_end as (
  id text, claim integer, status integer, inference_ms integer, output text, error text, input_tokens integer,
  output_tokens integer, cached_tokens integer, cache_write_tokens integer, stream_details text, price bigint,
  backend text, input text
);

-- Webhooks ------------------------------------------------------------------------------------------------------------

-- A delivery is written in the transaction that ends its prediction, so that none is lost and none is created twice.
--
--   pending ──claim──► pending, claimed_by set ──► delivered (2xx) | gone (410) | failed (given up)
--      ▲                        ├─ a failure: due_at = the next retry ──┐
--      │                        └─ the sender died: due_at = the end of its lease
--      └────────────────────────────────────────────────────────────────┘         resend: any status ──► pending, now
create table webhook_deliveries (
  -- Sent as `webhook-id`.
  id text primary key,
  user_id text not null,
  prediction_id text not null unique,
  model_name text not null,
  -- The origin of the address: back-pressure is counted by it.
  destination text not null,
  -- Address, headers and query parameters, sealed: they carry the receiver's credentials.
  target bytea not null,
  -- Text, so that every attempt sends the same bytes.
  payload text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'gone')),
  attempts integer not null default 0,
  -- Failures since it was created or resent: the step of the backoff.
  failures integer not null default 0,
  -- When it may be claimed. While claimed: when the lease ends, so that the work of a dead sender becomes due by itself.
  due_at timestamptz default clock_timestamp(),
  claimed_by text,
  -- Counts the claims. Only the current claim may write a result.
  claim integer not null default 0,
  -- Requested during an attempt.
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
-- A lane is what one user sends to one destination.
create index webhook_deliveries_lanes on webhook_deliveries (destination, user_id, due_at) where status = 'pending';
create index webhook_deliveries_due on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);

-- The secrets that sign a user's deliveries. The newest has no end; earlier ones sign for another day.
create table webhook_secrets (
  user_id text not null,
  number integer not null,
  sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (user_id, number)
);

-- Agents --------------------------------------------------------------------------------------------------------------

-- An agent is a name (owner, slug, visibility) and a list of revisions, each a snapshot of everything else. A deleted agent
-- keeps its rows, because runs refer to its revisions.
create table agents (
  id text primary key,
  owner_id text not null references users (id),
  -- Derived from the first name; stays when the name changes. Free again once the agent is deleted.
  slug text not null,
  -- Takes effect at once, so it is not part of a revision.
  visibility text not null check (visibility in ('private', 'public')),
  latest_revision_id text not null,
  published_revision_id text,
  -- When that revision was published.
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- Holds the name of the published revision, not of a draft.
  search_text text,
  -- As for models.
  taken_down jsonb,
  check ((published_revision_id is null) = (published_at is null)),
  check (taken_down is null or visibility = 'private')
);

create unique index agents_slug on agents (owner_id, slug) where deleted_at is null;
create index agents_of_owner on agents (owner_id, created_at desc, id desc) where deleted_at is null;
-- For a repeated request with an Idempotency-Key, whose agent may be deleted by now.
create index agents_ever_at on agents (owner_id, slug);
create index agents_listed on agents (published_at desc, id desc) include (owner_id, search_text)
  where visibility = 'public' and published_revision_id is not null and deleted_at is null;

create table agent_revisions (
  id text primary key,
  agent_id text not null references agents (id),
  -- Counts from 1 within the agent, so that the order does not depend on clocks.
  number integer not null check (number > 0),
  status text not null check (status in ('draft', 'published', 'superseded')),
  snapshot json not null,
  warnings json not null,
  created_at timestamptz not null,
  unique (agent_id, number),
  unique (agent_id, id)
);

create unique index agent_revisions_published on agent_revisions (agent_id) where status = 'published';

-- An agent and its first revision are written together and refer to each other.
alter table agents
  add foreign key (id, latest_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred,
  add foreign key (id, published_revision_id) references agent_revisions (agent_id, id) deferrable initially deferred;

-- Runs ----------------------------------------------------------------------------------------------------------------

-- A run is a row that its holder moves forward, with its steps (one model call each), tool calls, events and
-- confirmations. A state and its events are committed together, by the current claim only.
create table runs (
  id text primary key,
  agent_id text not null,
  revision_id text not null,
  -- The agent's creator, and the user who runs it and pays.
  owner_id text not null,
  user_id text not null,
  key_id text not null,
  -- From the root to the parent; empty for a run that a person started. Then the call of the parent that this run answers.
  ancestors text[] not null default '{}',
  parent_step integer,
  parent_position integer,

  -- pending | running | done | error
  status text not null default 'pending',
  -- queued | planning | working | awaiting_confirmation | formatting | ended
  phase text not null default 'queued',
  input json not null,
  output json,
  error json,

  max_cost_micros bigint,
  timeout_ms bigint not null,
  max_steps integer not null,
  -- Write tools that the caller approves in advance, and connectors of the caller that another user's agent may use.
  approve text[] not null default '{}',
  connectors text[] not null default '{}',
  base_url text not null,

  -- The node that works on it; null while it waits for a worker, or is parked.
  holder text,
  -- Counts the claims. Only the current claim may write.
  claim integer not null default 0,
  -- Counts the writes, so that a repeated write is recognised.
  writes integer not null default 0,
  -- How many workers died with it since it last advanced.
  deaths integer not null default 0,
  -- It waits for an answer or a child, and a worker can do nothing.
  parked boolean not null default false,
  cancel_requested boolean not null default false,
  -- Active time without waiting; for the limit.
  active_ms bigint not null default 0,
  -- The prediction of its next model call, so that a paid call is not repeated.
  call_id text,
  -- Tool results before this step are shortened for the model.
  cut_before integer not null default 0,
  steps integer not null default 0,
  last_event integer not null default 0,

  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  -- Of model calls and tools, descendants included.
  cost_micros bigint not null default 0,
  -- Part of what it may cost: prices of unfinished runs, and holds of calls in progress, descendants included. Holds exist
  -- only where a limit applies; `own_held_micros` is this run's part.
  due_micros bigint not null default 0,
  held_micros bigint not null default 0,
  own_held_micros bigint not null default 0,
  -- What its creator earns when it is done; reserved until then.
  price_micros bigint not null default 0,
  sale_name text,
  key_month date,

  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  completed_at timestamptz,
  -- The W3C traceparent of the request, or of the parent's run.
  trace text,
  -- If the next model call is a summary of older steps: {call_id, covers (the last of them), before_tokens}. Valid only while
  -- `call_id` is the run's own. Written before the call, so that the answer that a dead worker paid for is recognised.
  summing_up json,
  cache_write_tokens bigint not null default 0,
  -- A reader follows the events. Without one, new events are not announced.
  followed boolean not null default false,
  -- Who acted for the user that pays, the protocol by which the run came, and the conversation that it is part of.
  actor_id text,
  door text,
  thread_id text
) with (fillfactor = 50);

-- Includes what the runs of an agent are counted and filtered by: their rows are long.
create index runs_listed on runs (agent_id, created_at desc, id desc) include (status, user_id);
create index runs_of_user on runs (user_id, created_at desc, id desc);
create index runs_of_parent on runs ((ancestors[cardinality(ancestors)])) where cardinality(ancestors) > 0;
create index runs_of_root on runs ((ancestors[1])) where cardinality(ancestors) > 0;
create index runs_live_of_root on runs ((ancestors[1]))
  where cardinality(ancestors) > 0 and status in ('pending', 'running');
-- The runs that a worker may claim, by user. A sub-agent's run is ordered by its root, so that a user's started runs finish
-- before others begin.
create index runs_next on runs (user_id, (coalesce(ancestors[1], id)), id)
  where holder is null and not parked and status in ('pending', 'running');
create index runs_holder on runs (holder) where holder is not null;
create index runs_held_of_user on runs (user_id) where holder is not null;
-- For every scrape of /metrics.
create index runs_pending on runs (created_at) where status = 'pending';
create index runs_parked on runs (id) where parked;

-- One model call each. `message` is the model's answer, in the form that the same upstream expects back.
create table run_steps (
  run_id text not null,
  n integer not null,
  -- plan | work | format | summary
  kind text not null,
  message json not null,
  -- What was asked beside the conversation, to rebuild the conversation as it was.
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

-- asking ──approved──► started ──► ended
--    └──────denied, expired───────────▲
create table run_calls (
  run_id text not null,
  step integer not null,
  position integer not null,
  -- The model's id of the call.
  call_id text not null,
  tool text not null,
  arguments json not null,
  -- read | write | agent | none
  kind text not null,
  status text not null,
  -- The child run, if the tool is an agent.
  child_id text,
  result text,
  is_error boolean,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (run_id, step, position)
-- The end of a call is written into the row of its start, on the same page where there is room.
) with (fillfactor = 50);

-- `n` counts from 1 without a gap in each run.
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
  -- The run that a person started: this one or its first ancestor.
  root_id text not null,
  step integer not null,
  position integer not null,
  tool text not null,
  -- As they may be shown.
  arguments json not null,
  details json,
  -- Of the real arguments: the answer applies to these only.
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

-- Shown once to the caller of the run, then deleted.
create table run_secrets (
  id text primary key,
  run_id text not null,
  field text not null,
  sealed bytea not null,
  expires_at timestamptz not null
);

create index run_secrets_expiry on run_secrets (expires_at);
