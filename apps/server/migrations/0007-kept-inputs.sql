-- Inputs are kept with results. `ended_predictions.input` existed before and was always null.

-- The request that created the prediction, without its content: {id, preview, truncated, deleted}. Null if a node of an
-- earlier version ended it.
alter table ended_predictions add column request json;

-- False: inputs of the key's predictions are not kept.
alter table api_keys add column keep_inputs boolean not null default true;

-- The run whose model call it was. Null in rows of earlier versions.
alter table usage add column run_id text;

-- Predictions whose content was deleted by their owner. Kept as long as results.
create table deleted_predictions (
  id text primary key,
  user_id text not null,
  key_id text,
  request_id text,
  created_at timestamptz not null,
  started_at timestamptz,
  deleted_at timestamptz not null default now()
);
