create or replace function fold_usage(wanted text) returns void language plpgsql as $$
declare since timestamptz; until timestamptz;
begin
  select folded_until into since from wallets where user_id = wanted for update;
  insert into usage_hours as h (user_id, hour, model_name, requests, paid_requests, spent_micros)
  select user_id, date_trunc('hour', created_at), model_name, count(*), count(*) filter (where price_micros > 0), sum(price_micros)
  from usage where user_id = wanted and created_at > since group by 1, 2, 3
  on conflict (user_id, hour, model_name) do update set requests = h.requests + excluded.requests,
    paid_requests = h.paid_requests + excluded.paid_requests, spent_micros = h.spent_micros + excluded.spent_micros;
  update wallets set folded_until = coalesce((select max(created_at) from usage where user_id = wanted and created_at > since), since), unfolded = 0 where user_id = wanted;
end $$;
