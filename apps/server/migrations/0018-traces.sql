-- Where in a trace a queued prediction and its webhook belong: W3C traceparent of the request that brought it. Written
-- only for requests that are traced, before they are admitted, so that whoever runs one goes on in the same trace. A
-- table of its own: the functions of 0009 need not know of it, and a row that is lost costs nothing but a link.
create table prediction_traces (
  prediction_id text primary key,
  trace text not null,
  created_at timestamptz not null default now()
);

create index prediction_traces_age on prediction_traces (created_at);

alter table webhook_deliveries add column trace text;
