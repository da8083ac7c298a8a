-- Where in a trace a run belongs: W3C traceparent of the request that created it, or of its parent's run. Whoever works on
-- the run goes on in the same trace, also after another worker was lost.
alter table runs add column trace text;

-- How long the run has waited that waits longest for its first worker: asked at every scrape of /metrics.
create index runs_pending on runs (created_at) where status = 'pending';

-- Plans are made while there are few runs, and kept: by the keys, however many there will be (see 0023).
alter function write_runs set enable_seqscan = off;
alter function write_runs set enable_hashjoin = off;
alter function write_plain_changes set enable_seqscan = off;
alter function write_plain_changes set enable_hashjoin = off;
alter function claim_runs set enable_seqscan = off;
