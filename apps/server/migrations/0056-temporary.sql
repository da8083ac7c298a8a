drop trigger wallets_follow_the_ledger on wallets;
drop trigger closed_days_get_late_usage on usage;
