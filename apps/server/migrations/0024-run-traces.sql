-- Where in a trace a run belongs: W3C traceparent of the request that created it, or of its parent's run. Whoever works on
-- the run goes on in the same trace, also after another worker was lost.
alter table runs add column trace text;

-- How long the run has waited that waits longest for its first worker: asked at every scrape of /metrics.
create index runs_pending on runs (created_at) where status = 'pending';
