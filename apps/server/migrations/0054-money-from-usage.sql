-- Functions write the ledger and the wallets together (features/billing/sql). The triggers that did so, and that added late
-- usage to closed days, go. Those that keep the ledger append-only stay.
drop trigger ledger_moves_wallets on ledger;
drop trigger wallets_follow_the_ledger on wallets;
drop trigger closed_days_get_late_usage on usage;
drop function apply_to_wallets(), refuse_balance_by_hand(), add_to_closed_days();

-- What a credit or correction left in the wallet: a repeat with the same Idempotency-Key gets the same answer. Charges are
-- not entries any more, so that the entries before it do not add up to it.
alter table ledger add column balance_micros bigint;
alter table ledger disable trigger ledger_is_append_only;
update ledger l set balance_micros = (
  select sum(case when e.to_account = wallet.account then e.amount_micros else -e.amount_micros end)
  from (values (case l.kind when 'credit' then l.to_account else l.from_account end)) as wallet (account),
    lateral (
      select * from ledger where to_account = wallet.account and to_account <> 'platform'
      union all select * from ledger where from_account = wallet.account and kind in ('charge', 'sale')
      union all select * from ledger where from_account = wallet.account and kind = 'correction'
    ) e
  where e.id <= l.id)
where l.kind in ('credit', 'correction') and l.reference like 'credit:%';
alter table ledger enable trigger ledger_is_append_only;

-- What a user paid, newest first: the ledger's list must not go through all that was free.
create index usage_paid on usage (user_id, created_at desc, request_id desc) where price_micros > 0;

-- A clock that stood ahead may have dated usage after now. It is in the sums and in the ledger all the same.
update usage_marks set charges_until = greatest(charges_until, (select max(created_at) from usage) + interval '1 us');
update wallets w set folded_until = greatest(w.folded_until, m.charges_until) from usage_marks m;

-- What a prediction cost stands with its result: the ledger no longer says it.
update ended_predictions e set price_micros = l.amount_micros
from ledger l where l.kind = 'charge' and l.reference = e.id and e.price_micros <> l.amount_micros;
