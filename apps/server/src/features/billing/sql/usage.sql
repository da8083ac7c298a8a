-- Adds a user's usage rows after folded_until to usage_hours, and to usage_days if their day is closed already. Readers add
-- the rows that are not folded yet, so the fold does not wait for the lock on the marks: it leaves the rows to the next call.
create or replace function fold_usage(wanted text) returns void language plpgsql as $$
declare
  since timestamptz;
  until timestamptz;
  folded integer;
  closed_before timestamptz;
  first timestamptz;
begin
  select w.folded_until into since from wallets w where w.user_id = wanted and w.unfolded > 0 for update;
  if not found then return; end if;
  select coalesce(m.days_before, '-infinity') into closed_before from usage_marks m for no key update skip locked;
  if not found then return; end if;

  with added as (
    select * from sum_usage(wanted, since, 'infinity')
  ), hours as (
    insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros, errors, input_tokens,
      output_tokens, cached_tokens, latencies)
    select wanted, hour, model_name, requests, paid_requests, spent_micros, errors, input_tokens, output_tokens,
      cached_tokens, latencies
    from added
    -- What is unknown stays unknown.
    on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
      paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros,
      errors = h.errors + excluded.errors, input_tokens = h.input_tokens + excluded.input_tokens,
      output_tokens = h.output_tokens + excluded.output_tokens, cached_tokens = h.cached_tokens + excluded.cached_tokens,
      latencies = add_counts(h.latencies, excluded.latencies)
  ), late as (
    select date_trunc('day', hour, 'UTC') as day, model_name, sum(requests) as requests, sum(paid_requests) as paid,
      sum(spent_micros) as spent
    from added where hour < closed_before group by 1, 2
  ), days as (
    insert into usage_days as d (user_id, day, model_name, requests, paid_requests, spent_micros)
    select wanted, day, model_name, requests, paid, spent from late
    on conflict (user_id, day, model_name) do update set requests = d.requests + excluded.requests,
      paid_requests = d.paid_requests + excluded.paid_requests, spent_micros = d.spent_micros + excluded.spent_micros
  ), marks as (
    update usage_marks m set charged_micros = m.charged_micros + l.charged
    from (select sum(spent) as charged from late where not is_sale(model_name)) l where l.charged > 0
  )
  select max(latest), sum(requests), min(hour) into until, folded, first from added;
  update wallets w set folded_until = until, unfolded = w.unfolded - folded where w.user_id = wanted and folded > 0;
  if first < closed_before then
    perform detail_usage_days(wanted, date_trunc('day', first, 'UTC'), closed_before);
  end if;
end $$;

-- A run that a user bought appears in usage under the name of its agent, agents/<owner>/<name>. Model names have two parts.
create or replace function is_sale(model_name text) returns boolean language sql immutable parallel safe as $$
  select model_name like 'agents/%/%'
$$;
