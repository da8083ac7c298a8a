import type { Database, Sql, Transaction } from "../../engines/database/database.ts";
import { firstIdAt } from "../../kernel/first-id-at.ts";
import { eraseResultsOfRuns } from "../predictions/index.ts";
import { deleteTurnsOfRuns } from "../responses/index.ts";
import { eraseRunPayloads } from "../webhooks/index.ts";
import { attemptIds, maxAttempts } from "./tools/run-model.ts";

/** Few, because each may have thousands of events. */
const batch = 50;

/** Whether a run has one below it that has not ended, whose hold must be released first. */
export const hasLiveDescendant = (sql: Sql, rootId: ReturnType<Sql>) => sql`
  exists (
    select from runs b
    where b.ancestors[1] = ${rootId} and cardinality(b.ancestors) > 0 and b.status in ('pending', 'running'))`;

/** Runs that one step looks at. Many that stay, such as those of threads, may come before one to delete. */
const lookedAtOnce = 2_000;

/**
 * Deletes some runs that ended before a moment, with their descendants, steps, events, confirmations and secrets.
 * Charges stay in the ledger. A run with an active descendant is skipped, and so are the runs of a thread: they expire
 * together (threads/delete-threads.ts). `after`: where the step before ended.
 */
export async function deleteOldRuns(
  database: Database,
  endedBefore: Date,
  after = "",
): Promise<{ dropped: number; more: boolean; after: string }> {
  return database.transaction(async (tx) => {
    const [{ roots, looked, last }] = await tx<[{ roots: string[]; looked: number; last: string | null }]>`
      with part as materialized (
        select id from runs where id > ${after} and id < ${firstIdAt("run", endedBefore)} order by id limit ${lookedAtOnce}
      ), old as materialized (
        select r.id from part join runs r on r.id = part.id
        where r.completed_at < ${endedBefore} and cardinality(r.ancestors) = 0
          and not ${hasLiveDescendant(tx, tx`r.id`)}
          and (r.thread_id is null or not exists (
            select from threads t where t.user_id = r.user_id and t.id = r.thread_id))
        order by r.id limit ${batch} for update of r skip locked
      )
      select array(select id from old) as roots, (select count(*)::int from part) as looked,
        (select max(id) from part) as last`;
    await deleteRuns(tx, roots);
    const isFull = roots.length === batch;
    return {
      dropped: roots.length,
      more: isFull || looked === lookedAtOnce,
      after: (isFull ? roots.toSorted().at(-1) : last) ?? after,
    };
  });
}

/**
 * Deletes runs of an account that is being deleted, with what their model calls said and with stored responses. Returns how
 * many: none are left after none.
 */
export async function deleteSomeRunsOf(database: Database, userId: string): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await tx<{ id: string }[]>`
      select r.id from runs r
      where r.user_id = ${userId} and cardinality(r.ancestors) = 0 and r.completed_at is not null
        and not ${hasLiveDescendant(tx, tx`r.id`)}
      limit ${batch}`;
    await deleteRunsWithContent(
      tx,
      userId,
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

/** Deletes ended runs of a user, with stored responses and what all their model calls said, those of tools too. */
export async function deleteRunsWithContent(
  tx: Transaction,
  userId: string,
  rootIds: readonly string[],
): Promise<void> {
  const ofTools = await selectToolPredictions(tx, rootIds);
  const ids = await deleteRuns(tx, rootIds);
  await eraseResultsOfRuns(tx, ids, ofTools);
  await deleteTurnsOfRuns(tx, userId, rootIds);
}

/** The ids that predictions of `run_model` can have. Such predictions do not name their run. */
async function selectToolPredictions(tx: Transaction, rootIds: readonly string[]): Promise<string[]> {
  const roots = [...rootIds];
  const calls = await tx<{ runId: string; callId: string }[]>`
    select k.run_id as "runId", concat_ws('-', k.run_id, k.step, k.position) as "callId"
    from runs r join run_calls k on k.run_id = r.id and k.tool = 'run_model'
    where r.id = any(${roots}::text[]) or (r.ancestors[1] = any(${roots}::text[]) and cardinality(r.ancestors) > 0)`;
  return calls.flatMap(({ runId, callId }) => attemptIds(runId, callId, maxAttempts));
}

/** Deletes ended runs with their descendants. Returns the ids of all of them. */
async function deleteRuns(tx: Transaction, rootIds: readonly string[]): Promise<string[]> {
  const roots = [...rootIds];
  const rows = await tx<{ id: string }[]>`
    delete from runs where id = any(${roots}::text[])
      or (ancestors[1] = any(${roots}::text[]) and cardinality(ancestors) > 0)
    returning id`;
  const ids = rows.map((row) => row.id);
  for (const table of ["run_steps", "run_calls", "run_events", "run_confirmations", "run_secrets"]) {
    await tx`delete from ${tx(table)} where run_id = any(${ids}::text[])`;
  }
  await eraseRunPayloads(tx, ids);
  return ids;
}
