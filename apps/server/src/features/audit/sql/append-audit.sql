-- Appends a record to the chain. The row of the chain stays locked until the transaction ends, so call this last: then the lock
-- is held only for the commit, and a transaction that has it waits for no other lock. Times never go back, so that records
-- are in order by both number and time. A node that hangs must not keep all others from recording, so that both waiting for
-- the row and holding it idle end after three seconds. `verify-chain.ts` computes the same hash.
create or replace function append_audit(entry_text text) returns bigint language plpgsql as $$
declare
  chain audit_chain;
  next_at timestamptz;
  next_hash bytea;
begin
  perform set_config('lock_timeout', '3s', true), set_config('idle_in_transaction_session_timeout', '3s', true);
  select * into strict chain from audit_chain for update;
  next_at := greatest(clock_timestamp(), chain.at);
  next_hash := sha256(convert_to(concat_ws(E'\n', 'gantry audit 1', chain.seq + 1, encode(chain.hash, 'hex'),
    audit_micros(next_at), entry_text), 'UTF8'));
  insert into audit_records (seq, at, hash, entry) values (chain.seq + 1, next_at, next_hash, entry_text::json);
  update audit_chain set seq = chain.seq + 1, hash = next_hash, at = next_at;
  return chain.seq + 1;
end $$;

-- Microseconds since 1970.
create or replace function audit_micros(at timestamptz) returns bigint language sql immutable parallel safe as $$
  select (extract(epoch from at) * 1000000)::bigint
$$;
