-- Functions of earlier versions.

-- Parameters cannot be renamed in place, so these three are created again below and in the files after this one.
drop function if exists claim_predictions(text, integer);
drop function if exists end_predictions(prediction_end[], boolean);
drop function if exists write_predictions(prediction_arrival[], text[], text[], text[], prediction_end[], text, date, integer,
  boolean, boolean);
drop function if exists hit_slack_ms(), choose_jobs(integer), next_in_line(text, integer, boolean),
  stand_in_line(text, text, boolean, timestamptz), move_lines(text, text, integer), tell(text, text[]),
  admit_predictions(prediction_arrival[], text[], text[], text[], text, date),
  decisions_of(prediction_arrival[], text[], admission[]);

drop function if exists mend_lines(), keep_last_words(text[], json);

-- Nodes of the version before keep calling this during a rolling update: remove it when `oldestToKnow` is 0021 or later.
-- They count no tokens for admission, send the month only, and do not know the verdicts of tokens.
create or replace function write_predictions(arrivals prediction_arrival[], users text[], keys text[], models text[],
  ends prediction_end[], node text, month_now date, slots integer, with_more boolean, lazily boolean, out decisions json,
  out ended integer[], out ended_models text[], out grants json, out wake boolean, out jobs json, out more json)
language plpgsql as $$
declare
  today date := (clock_timestamp() at time zone 'UTC')::date;
begin
  select replace(replace(b.decisions::text, '"token_limit"', '"rate_limit"'), '"too_many_tokens"', '"no_funds"')::json,
    b.ended, b.ended_models, b.grants, b.wake, b.jobs, b.more
  into decisions, ended, ended_models, grants, wake, jobs, more
  from write_batch(array(select row(a.*, null, null)::arriving_prediction from unnest(arrivals) a), users, keys, models, ends,
    node, case when date_trunc('month', today)::date = month_now then today else month_now end, slots, with_more, lazily) b;
end $$;
