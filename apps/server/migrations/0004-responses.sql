-- Stored responses of the OpenAI protocol. Each row is one turn of a conversation and names the turn before it.
create table responses (
  id text primary key,
  user_id text not null,
  key_id text not null,
  -- As the client named it.
  model_name text not null,
  -- The prediction or run that answered. Both are null for a request that asked nothing.
  prediction_id text,
  run_id text,
  -- The model of a background prediction, which is part of its address.
  endpoint_id text,
  previous_id text,
  -- queued | completed | incomplete | failed | cancelled. A queued one becomes final when it is first read after its end.
  status text not null,
  -- Fields of the request that the response repeats.
  request json not null,
  -- Items of this turn alone.
  input json not null,
  output json not null,
  usage json,
  error json,
  incomplete_details json,
  -- Of input and output, so that a conversation is measured without reading it.
  bytes integer not null,
  created_at timestamptz not null,
  ended_at timestamptz
);

-- Nodes of earlier versions cannot run queued conversations, and do not claim them.
alter table nodes add column runs_chats boolean not null default false;
