-- Writes a ledger entry and moves the money between its two accounts: `user:<id>` (a wallet), `platform` (receives charges) and
-- `outside` (the source of credits). Returns no row if an entry of this kind and reference exists.
create or replace function move_money(entry_kind text, payer text, payee text, amount bigint, entry_reference text,
  entry_reason text, at timestamptz default clock_timestamp())
returns setof ledger language plpgsql as $$
declare
  payer_id text := substring(payer from '^user:(.*)$');
  payee_id text := substring(payee from '^user:(.*)$');
begin
  perform 1 from wallets w where w.user_id in (payer_id, payee_id) order by w.user_id for update;
  return query
    insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference, reason, balance_micros)
    values (at, entry_kind, payer, payee, amount, entry_reference, entry_reason, case entry_kind
      when 'credit' then (select w.balance_micros + amount from wallets w where w.user_id = payee_id)
      when 'correction' then (select w.balance_micros - amount from wallets w where w.user_id = payer_id) end)
    on conflict (kind, reference) where reference is not null do nothing returning *;
  if not found then return; end if;
  update wallets w set balance_micros = w.balance_micros + case w.user_id when payee_id then amount else -amount end
  where w.user_id in (payer_id, payee_id);
end $$;

-- Writes the charges of usage before `until` to the ledger, one entry for each user and UTC day. Every wallet must be folded
-- beyond `until`, so that no earlier row can follow. Balances already include these charges.
create or replace function post_charges(until timestamptz) returns void language plpgsql as $$
declare
  since timestamptz;
begin
  select charges_until into since from usage_marks;
  if since >= until then return; end if;
  if exists (select 1 from wallets where folded_until < until) then
    raise exception 'usage before % is not folded', until;
  end if;
  insert into ledger (recorded_at, kind, from_account, to_account, amount_micros, reference, reason)
  select max(created_at), 'charge', 'user:' || user_id, 'platform', sum(price_micros),
    user_id || ':' || to_char(greatest(day, since) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'Predictions of ' || to_char(day at time zone 'UTC', 'YYYY-MM-DD')
  from (
    select user_id, date_trunc('day', created_at, 'UTC') as day, created_at, price_micros from usage
    where created_at >= since and created_at < until and price_micros > 0 and not is_sale(model_name)
  ) charge group by user_id, day;
  update usage_marks set charges_until = until;
end $$;
