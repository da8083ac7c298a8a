import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { firstIdAt, timeOfId } from "../../kernel/first-id-at.ts";
import type { Scope } from "../accounts/index.ts";
import { findCall } from "../billing/index.ts";
import { deleteOutputs } from "../files/index.ts";
import { deleteTurnsOf } from "../responses/index.ts";
import { erasePayload } from "../webhooks/index.ts";
import type { HistoryDeps } from "./context.ts";
import { selectLiveRows } from "./live-store.ts";
import { inScope } from "./store.ts";

/**
 * Deletes everything that a prediction was asked and answered. Result routes then answer as for an expired result. A mark
 * remains as long as results, so that a repeat under an Idempotency-Key does not run it again.
 */
export async function deleteContent({ database, blobs }: HistoryDeps, scope: Scope, id: string): Promise<void> {
  const isDeleted = await database.transaction(async (tx) => {
    const [row] = await tx<{ route: string }[]>`
      select route from ended_predictions where id = ${id} and ${inScope(tx, scope)} for update`;
    if (!row) return false;
    if (row.route === "agent") throw ofRun();
    await tx`
      insert into deleted_predictions (id, user_id, key_id, request_id, created_at, started_at)
      select id, user_id, key_id, request ->> 'id', created_at, started_at from ended_predictions where id = ${id}`;
    await deleteOutputs(tx, blobs, [id]);
    await tx`delete from prediction_fragments where prediction_id = ${id}`;
    await erasePayload(tx, id);
    await deleteTurnsOf(tx, scope.userId, id);
    await tx`delete from ended_predictions where id = ${id}`;
    return true;
  });
  if (isDeleted) return;
  const [live] = await selectLiveRows(database.sql, scope, [id]);
  if (live) throw fault("conflict", "The prediction has not ended. Cancel it first.");
  const usage = await findCall(database.sql, scope, id, timeOfId(id));
  if (!usage) throw fault("not_found", "Prediction not found");
  if (usage.route === "agent") throw ofRun();
}

function ofRun() {
  return fault("conflict", "The prediction is a model call of a run. Its content belongs to the run.");
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteDeletedMarks(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql`
    delete from deleted_predictions where id = any (array(
      select id from deleted_predictions where id < ${firstIdAt("pred", before)} and deleted_at < ${before}
      order by id limit ${limit} for update skip locked))
    returning 1`;
  return rows.length;
}
