-- A model call that an agent of somebody else makes is one that its payer has not seen: an arrival that says
-- `must_be_covered` is refused where what is left of the wallet, or of the key's month, is less than its reservation. One that
-- reserves nothing takes nothing. Servers of the version before say nothing of it, and are decided as before.
-- (`write_predictions` admits covered ones only, and leaves all others to this function.)
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  'run text, id text, holder text)',
  'run text, id text, holder text, must_be_covered boolean)',
  1);
select rewrite_function(
  'admit_predictions(text[], text[], text[], json, date, bigint)',
  $$when capacity[a.m] = 0 then 'model_inactive'$$,
  $$when capacity[a.m] = 0 then 'model_inactive'
      when a.must_be_covered and a.reservation > 0
        and (available[a.u] < a.reservation or key_limit[a.k] - key_used[a.k] < a.reservation) then 'no_funds'$$,
  1);
