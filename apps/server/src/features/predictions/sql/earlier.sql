-- Functions of the version before this one. Its nodes keep calling the two at the end during a rolling update; remove this
-- file when `oldestToKnow` is 0002 or later.

-- Parameters cannot be renamed in place, so these three are created again in the files after this one.
drop function if exists claim_predictions(text, integer);
drop function if exists end_predictions(prediction_end[], boolean);
drop function if exists write_predictions(prediction_arrival[], text[], text[], text[], prediction_end[], text, date, integer,
  boolean, boolean);
drop function if exists hit_slack_ms(), choose_jobs(integer), next_in_line(text, integer, boolean),
  stand_in_line(text, text, boolean, timestamptz), move_lines(text, text, integer), tell(text, text[]);

create or replace function mend_lines() returns void language sql as $$ select repair_queues() $$;

create or replace function keep_last_words(ids text[], words json) returns void language sql as $$
  select store_transcripts(ids, (
    select json_agg(json_build_object('id', w.id, 'fragments', w.said)) from json_to_recordset(words) as w (id text, said json)))
$$;
