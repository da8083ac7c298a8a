/**
 * Settings that the program relies on, regardless of role, database and server. The operator chooses `search_path` and
 * `default_transaction_read_only`.
 */
const settings: Readonly<Record<string, string>> = {
  // Text format of values, for the driver and for backups.
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  // Syntax of our literals.
  standard_conforming_strings: "on",
  array_nulls: "on",
  // Rows are locked first. The next statement must see rows that were committed meanwhile.
  default_transaction_isolation: "read committed",
  // Every query has a deadline in the pool.
  statement_timeout: "0",
  transaction_timeout: "0",
  lock_timeout: "0",
  idle_session_timeout: "0",
  // A hanging node must not keep its row locks.
  idle_in_transaction_session_timeout: "60000",
};

const quoted = (text: string): string => `'${text}'`;
const rows = Object.entries(settings).map(([name, value]) => `(${quoted(name)}, ${quoted(value)})`);

/**
 * The first statements of every connection. A pooler would refuse them as startup parameters. Settings unknown to the
 * server are skipped. An answered commit must be on disk; other levels of `synchronous_commit` are the operator's choice.
 * A backend from a pooler may still have prepared statements with the names that we use.
 */
export const sessionSetup = `
  deallocate all;
  select set_config(name, value, false) from (values ${rows.join(", ")}) as ours (name, value)
  where current_setting(name, true) is not null
  union all
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;
