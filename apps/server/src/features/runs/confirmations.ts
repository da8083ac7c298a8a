import { answerConfirmationBody, isId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import type { Caller } from "../accounts/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";

export async function readConfirmations(context: RunsContext, caller: Caller, runId: string): Promise<Confirmation[]> {
  return listConfirmations(context.database.sql, await readOwnRun(context, caller, runId));
}

/** Resolves a confirmation, once. The run continues when none is pending. */
export async function answerConfirmation(
  context: RunsContext,
  caller: Caller,
  runId: string,
  confirmationId: string,
  body: unknown,
): Promise<Confirmation> {
  throwIfAny(storableIssues(body ?? {}).issues);
  const { approve, reason } = parseOrThrow(answerConfirmationBody, body ?? {}, ["body"]);
  const { sql } = context.database;
  const run = await readOwnRun(context, caller, runId);
  const find = async () => (await listConfirmations(sql, run)).find(({ id }) => id === confirmationId);
  const pending = isId("confirmation", confirmationId) ? await find() : undefined;
  if (!pending) throw fault("not_found", "Confirmation not found");
  const isResolved = await resolveConfirmation(sql, confirmationId, approve ? "approved" : "denied", reason ?? null);
  const answered = await find();
  if (!answered) throw fault("not_found", "Confirmation not found");
  if (!isResolved) {
    const { phase } = await readOwnRun(context, caller, runId);
    if (phase === "ended" && answered.status === "expired") throw fault("conflict", "The run has ended");
    const status = answered.status === "pending" ? "expired" : answered.status;
    throw fault("conflict", `The confirmation is already ${status}`);
  }
  context.wakeWorkers();
  return answered;
}

const perPass = 100;

/** Confirmations that are not answered in time count as denied. */
export async function expireConfirmations(context: Pick<RunsContext, "database" | "wakeWorkers">): Promise<void> {
  const { sql } = context.database;
  const expired = await listExpired(sql, perPass);
  for (const id of expired) await resolveConfirmation(sql, id, "expired", "Not answered in time");
  if (expired.length > 0) context.wakeWorkers();
}

export interface Confirmation {
  id: string;
  runId: string;
  tool: string;
  arguments: Record<string, unknown>;
  details: Record<string, unknown> | null;
  status: "pending" | "approved" | "denied" | "expired";
  reason: string | null;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
}

/** Of a run and its descendants, oldest first. */
export async function listConfirmations(sql: Sql, run: Pick<Run, "id" | "ancestors">): Promise<Confirmation[]> {
  return sql<Confirmation[]>`
    select q.id, q.run_id as "runId", q.tool, q.arguments, q.details, q.status, q.reason, q.created_at as "createdAt",
      q.expires_at as "expiresAt", q.resolved_at as "resolvedAt"
    from run_confirmations q join runs r on r.id = q.run_id
    where q.root_id = ${run.ancestors[0] ?? run.id} and (r.id = ${run.id} or ${run.id} = any (r.ancestors))
    order by q.created_at, q.id`;
}

export async function resolveConfirmation(
  sql: Sql,
  id: string,
  answer: "approved" | "denied" | "expired",
  reason: string | null,
): Promise<boolean> {
  const [row] = await sql<{ done: unknown }[]>`select resolve_confirmation(${id}, ${answer}, ${reason}) as done`;
  return row?.done != null;
}

export async function listExpired(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from run_confirmations where status = 'pending' and expires_at < now() order by expires_at limit ${limit}`;
  return rows.map((row) => row.id);
}
