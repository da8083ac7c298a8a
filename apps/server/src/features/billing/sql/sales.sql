-- Charges a run of another user's agent: the buyer pays the seller. The caller has locked both wallets and the key's month, and
-- releases the reservation.
create or replace function sell_run(buyer text, seller text, key_id text, run_id text, sale_name text, price bigint, door text)
returns void language plpgsql as $$
declare
  at timestamptz;
  rows_unfolded integer;
begin
  update wallets w set unfolded = w.unfolded + 1 where w.user_id = buyer
  returning greatest(clock_timestamp(), w.folded_until + interval '1 us'), w.unfolded into at, rows_unfolded;
  perform move_money('sale', 'user:' || buyer, 'user:' || seller, price, run_id, null, at);
  insert into usage (request_id, user_id, key_id, model_name, route, status, created_at, reserved_micros, price_micros, door)
    values (run_id, buyer, key_id, sale_name, 'agent', 200, at, price, price, door);
  if rows_unfolded >= 1000 then perform fold_usage(buyer); end if;
end $$;
