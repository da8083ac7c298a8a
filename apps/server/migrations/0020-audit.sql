-- Who changed what. Each record has the hash of the record before it; one row has the two ends of the chain.

create table audit_chain (
  one boolean primary key default true check (one),
  -- The last record.
  seq bigint not null,
  hash bytea not null,
  at timestamptz not null,
  -- The last record that retention deleted: the chain begins after it.
  deleted_seq bigint not null,
  deleted_hash bytea not null
);

insert into audit_chain (seq, hash, at, deleted_seq, deleted_hash)
values (0, sha256('gantry audit'), '-infinity', 0, sha256('gantry audit'));

create table audit_records (
  -- Without gaps.
  seq bigint primary key,
  at timestamptz not null,
  hash bytea not null,
  -- What is hashed, byte for byte.
  entry json not null,
  action text not null generated always as (entry ->> 'action') stored,
  actor_id text generated always as (entry -> 'actor' ->> 'id') stored,
  owner_id text generated always as (entry -> 'owner' ->> 'id') stored,
  -- Everything that a search by id or name finds.
  names text[] not null generated always as (array_remove(array[
    entry -> 'actor' ->> 'id', entry -> 'actor' ->> 'username', entry -> 'actor' ->> 'key_id',
    entry -> 'owner' ->> 'id', entry -> 'owner' ->> 'username',
    entry -> 'object' ->> 'id', entry -> 'object' ->> 'name', entry -> 'origin' ->> 'request_id'
  ], null)) stored
);

create index audit_records_of_actor on audit_records (actor_id, seq desc);
create index audit_records_of_owner on audit_records (owner_id, seq desc);
create index audit_records_by_time on audit_records (at);
create index audit_records_by_name on audit_records using gin (names);

-- Refuses to change the past. Retention first moves the beginning of the chain, and then deletes what is before it.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.seq <= (select deleted_seq from audit_chain) then
      return old;
    end if;
  end if;
  raise exception 'audit records cannot be changed or deleted';
end $$;

create trigger audit_records_stay before update or delete on audit_records
  for each row execute function refuse_audit_change();
create trigger audit_records_stay_all before truncate on audit_records
  for each statement execute function refuse_audit_change();
