-- no transaction
-- The entries of one account, newest first. Those that take away are apart: what is paid is many and counted by the sums
-- of usage, corrections are few and counted one by one. A charge writes one of these three.
create index concurrently if not exists ledger_paid on ledger (from_account, recorded_at desc, id desc)
  where kind in ('charge', 'sale');
create index concurrently if not exists ledger_corrected on ledger (from_account, recorded_at desc, id desc)
  where kind = 'correction';

-- In the place of the index by number, and at its cost.
create index concurrently if not exists ledger_received on ledger (to_account, recorded_at desc, id desc)
  where to_account <> 'platform';
drop index concurrently if exists ledger_to_others;
