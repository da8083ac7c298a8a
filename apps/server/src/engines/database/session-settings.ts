/**
 * What the program relies on, whatever the role, the database or the server has it set to. Not among them, since they are
 * the operator's to choose: `search_path` (where the tables are) and `default_transaction_read_only` (a database that is
 * closed to writes).
 */
const settings: Readonly<Record<string, string>> = {
  // How values are written as text, which the driver, or a backup that is restored elsewhere, reads again.
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  // How our own texts are read.
  standard_conforming_strings: "on",
  array_nulls: "on",
  // Rows are locked first and decided on in a second statement, which must see what others have committed meanwhile.
  default_transaction_isolation: "read committed",
  // Every query has a deadline of ours; the long ones of a migration or a backup have hours.
  statement_timeout: "0",
  transaction_timeout: "0",
  lock_timeout: "0",
  idle_session_timeout: "0",
  // A node that hangs inside a transaction must not hold its row locks against all others.
  idle_in_transaction_session_timeout: "60000",
};

const quoted = (text: string): string => `'${text}'`;
const rows = Object.entries(settings).map(([name, value]) => `(${quoted(name)}, ${quoted(value)})`);

/**
 * The first statements of every connection. Not parameters of its start, of which a pooler between us and the server
 * refuses those that it does not know. A server that does not have one of the settings does not need it. A commit that
 * was answered must be on disk; how many replicas have it too by then is the operator's to choose. A pooler may hand us a
 * backend on which another session left prepared statements, which have the same names as ours.
 */
export const makeSessionOurs = `
  deallocate all;
  select set_config(name, value, false) from (values ${rows.join(", ")}) as ours (name, value)
  where current_setting(name, true) is not null
  union all
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;
