import type { Sql } from "../../../engines/database/database.ts";
import type { Run } from "../run.ts";
import { type Interval, type TimeSpent, timeSpent } from "./waited-time.rules.ts";

type Timed = Pick<Run, "id" | "createdAt" | "startedAt" | "completedAt" | "steps">;

interface Spell {
  runId: string;
  isBusy: boolean;
  from: Date;
  to: Date;
}

/** How long runs worked and waited so far, by run. A run without a step had no confirmations and no descendants. */
export async function readTimes(sql: Sql, runs: readonly Timed[], now: Date): Promise<Map<string, TimeSpent>> {
  const begun = runs.filter(({ steps }) => steps > 0);
  const spells = begun.length === 0 ? [] : await listSpells(sql, begun);
  const byRun = Map.groupBy(spells, ({ runId }) => runId);
  return new Map(
    runs.map((run) => {
      const end = (run.completedAt ?? now).getTime();
      const within: Interval = [run.createdAt.getTime(), end];
      const queued: Interval = [run.createdAt.getTime(), run.startedAt?.getTime() ?? end];
      const intervals = (isBusy: boolean) =>
        (byRun.get(run.id) ?? [])
          .filter((spell) => spell.isBusy === isBusy)
          .map(({ from, to }): Interval => [from.getTime(), to.getTime()]);
      return [run.id, timeSpent(within, { waiting: [queued, ...intervals(false)], busy: intervals(true) })];
    }),
  );
}

/** Waits and work of runs and their descendants, without the first queue of the runs. Only runs that waited have any. */
async function listSpells(sql: Sql, runs: readonly Timed[]): Promise<Spell[]> {
  return sql<Spell[]>`
    with tree as materialized (
      select t.id as top, t.id, t.created_at, t.started_at, coalesce(t.completed_at, now()) as until, t.call_id, t.status
      from runs t where t.id = any(${runs.map(({ id }) => id)}::text[])
      union all
      select t.id, b.id, b.created_at, b.started_at, coalesce(b.completed_at, now()), b.call_id, b.status
      from runs t join runs b on b.ancestors[1] = coalesce(t.ancestors[1], t.id) and cardinality(b.ancestors) > 0
      where t.id = any(${runs.map(({ id }) => id)}::text[]) and t.id = any (b.ancestors)
    ), waits as materialized (
      select t.top, range_agg(tstzrange(x.a, greatest(x.a, x.b))) as spells
      from tree t cross join lateral (
        select t.created_at as a, coalesce(t.started_at, t.until) as b where t.id <> t.top
        union all
        select q.created_at, coalesce(q.resolved_at, t.until) from run_confirmations q where q.run_id = t.id
      ) x group by t.top
    ), work as (
      select t.top, range_agg(tstzrange(x.a, greatest(x.a, x.b))) as spells
      from tree t join waits w on w.top = t.top cross join lateral (
        select k.started_at as a, coalesce(k.ended_at, t.until) as b from run_calls k
        where k.run_id = t.id and k.kind <> 'agent' and k.started_at is not null
        union all
        select p.created_at, p.ended_at from ended_predictions p where p.run_id = t.id
        union all
        select l.created_at, t.until from live_predictions l where l.id = t.call_id and t.status = 'running'
      ) x group by t.top
    )
    select s.top as "runId", s.busy as "isBusy", lower(one) as from, upper(one) as to
    from (
      select top, false as busy, spells from waits union all select top, true, spells from work
    ) s, unnest(s.spells) as one`;
}
