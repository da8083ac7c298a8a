-- The result that the end of a child's run tells its parent says which call it belongs to, as the results do that the
-- worker tells (`shownCallId` in work/call-id.rules.ts).
create function shown_call_id(run_id text, step integer, "position" integer) returns text language sql immutable as $$
  select 'call_' || left(encode(sha256(convert_to(format('%s-%s-%s', run_id, step, "position"), 'UTF8')), 'hex'), 12)
$$;

-- `write_runs` as it stands, with that one change.
do $$
declare
  told constant text := $told$json_build_object('tool', k.tool, 'result', k.result)$told$;
  tied constant text :=
    $tied$json_build_object('tool', k.tool, 'result', k.result, 'call_id', shown_call_id(k.run_id, k.step, k.position))$tied$;
  definition constant text := pg_get_functiondef('write_runs(json)'::regprocedure);
begin
  if length(definition) - length(replace(definition, told, '')) <> length(told) then
    raise exception 'write_runs does not tell the result of a child in exactly one place';
  end if;
  execute replace(definition, told, tied);
end $$;
