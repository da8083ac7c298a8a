-- Whoever started a run and waits for its end hears that it asks: it would wait in vain, since nobody but the caller can
-- answer. The word goes where that of an end goes; who waits for nothing but the end looks once more and waits on.
create function tell_of_question() returns trigger language plpgsql as $$
begin
  perform pg_notify('gantry_run_ended', new.id);
  return null;
end $$;

create trigger runs_tell_of_questions after update of phase on runs
  for each row when (new.phase = 'awaiting_confirmation' and old.phase <> 'awaiting_confirmation')
  execute function tell_of_question();
