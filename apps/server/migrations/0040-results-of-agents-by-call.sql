-- The result that the end of a child's run tells its parent says which call it belongs to, as the results do that the
-- worker tells (`shownCallId` in work/call-id.rules.ts).
create function shown_call_id(run_id text, step integer, "position" integer) returns text language sql immutable as $$
  select 'call_' || left(encode(sha256(convert_to(format('%s-%s-%s', run_id, step, "position"), 'UTF8')), 'hex'), 12)
$$;

select rewrite_function(
  'write_runs(json)',
  $$json_build_object('tool', k.tool, 'result', k.result)$$,
  $$json_build_object('tool', k.tool, 'result', k.result, 'call_id', shown_call_id(k.run_id, k.step, k.position))$$,
  1);
