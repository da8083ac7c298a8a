import type { Sql } from "../../../engines/database/database.ts";
import type { StoredCall } from "../run.ts";

/** Arguments by the id of the call in events. */
export type ShownArguments = ReadonlyMap<string, Record<string, unknown>>;

/** Arguments as the events of a run show them: masked. All calls of the run unless some are named. */
export async function listShownArguments(
  sql: Sql,
  runId: string,
  callIds?: readonly string[],
): Promise<ShownArguments> {
  const rows = await sql<{ callId: string; arguments: Record<string, unknown> }[]>`
    select e.data ->> 'call_id' as "callId", e.data -> 'arguments' as arguments from run_events e
    where e.run_id = ${runId} and e.type in ('tool_call', 'confirmation_required') and e.data ->> 'call_id' is not null
      ${callIds === undefined ? sql`` : sql`and e.data ->> 'call_id' = any(${[...callIds]}::text[])`}
    order by e.n`;
  return new Map(rows.map((row) => [row.callId, row.arguments]));
}

export async function findCallResult(
  sql: Sql,
  runId: string,
  { step, position }: Pick<StoredCall, "step" | "position">,
): Promise<Pick<StoredCall, "result" | "isError"> | undefined> {
  const [found] = await sql<Pick<StoredCall, "result" | "isError">[]>`
    select result, is_error as "isError" from run_calls
    where run_id = ${runId} and step = ${step} and position = ${position}`;
  return found;
}

/**
 * What the model thought before it answered, as far as the prediction is kept. Read here: PostgreSQL cannot decode a NUL or
 * half a character, which a model may write.
 */
export async function findReasoning(sql: Sql, predictionId: string): Promise<string> {
  const [found] = await sql<{ output: { answer?: { reasoning?: string } } | null }[]>`
    select output from ended_predictions where id = ${predictionId}`;
  return (found?.output?.answer?.reasoning ?? "").replaceAll("\0", "\uFFFD").toWellFormed();
}
