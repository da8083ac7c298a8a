-- Admission as in 0009, and whoever has a client and was put into a line that cannot move gets the room that the model has:
-- those before it may wait for their user's parallel limit, not for the model. Without this they were served by the next
-- sweep only, so that one user's backlog cost everybody else up to two seconds a call.
--
-- The line is served in its own order, so others may be granted a slot here too; their nodes hear of it by NOTIFY.
create function admit_and_grant(
  user_ids text[], key_ids text[], model_ids text[], arrivals json, month_now date, now_ms bigint
) returns setof admission language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  decisions admission[];
  granted text[];
  elsewhere text[];
begin
  select array_agg(a order by a.n) into decisions
  from admit_predictions(user_ids, key_ids, model_ids, arrivals, month_now, now_ms) a;

  -- The slots are locked until the end of this transaction.
  if exists (select 1 from unnest(decisions) d where d.verdict = 'wait') and exists (
    select 1 from model_slots s join models m on m.id = s.model_id
    where s.model_id = any (model_ids) and s.waiting > 0 and s.running < m.capacity
  ) then
    select array_agg(g.id) into granted from grant_slots(model_ids, false) g;
    select array_agg(id) into elsewhere from unnest(granted) id
    where id not in (select x.id from json_to_recordset(arrivals) as x (id text));
    perform pg_notify('gantry_granted', string_agg(id, ','))
      from (select id, (i - 1) / 200 as part from unnest(elsewhere) with ordinality g (id, i)) parts group by part;
  end if;
  return query
    select d.n, case when x.id = any (granted) then 'run' else d.verdict end, d.rate_limit, d.rate_remaining,
      d.rate_reset_ms, d.retry_after_ms
    from unnest(decisions) d join json_to_recordset(arrivals) as x (n int, id text) on x.n = d.n;
end $$;
