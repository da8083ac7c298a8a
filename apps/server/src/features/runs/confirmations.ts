import { answerConfirmationBody, type ConfirmationStatus, isId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { storableIssues } from "../../kernel/storable-issues.ts";
import { type Caller, ofKeys, type Page, type Scope, scopeOf } from "../accounts/index.ts";
import { record } from "../audit/index.ts";
import type { RunsContext } from "./context.ts";
import { readOwnRun } from "./read-runs.ts";
import type { Run } from "./run.ts";
import { type RunAgent, readRunAgents } from "./run-names.ts";

export async function readConfirmations(context: RunsContext, caller: Caller, runId: string): Promise<Confirmation[]> {
  return readConfirmationsOf(context, caller, await readOwnRun(context, caller, runId));
}

export async function readConfirmationsOf(
  { database: { sql } }: Pick<RunsContext, "database">,
  reader: Pick<Caller, "userId">,
  run: Run,
): Promise<Confirmation[]> {
  return withAgents(sql, reader, await listConfirmations(sql, run));
}

export interface InboxQuery {
  status?: ConfirmationStatus | undefined;
  limit: number;
  offset: number;
}

export interface InboxEntry extends Confirmation {
  rootRunId: string;
  rootAgent: RunAgent;
}

/** Confirmations of all runs that the caller sees, newest first. */
export async function readInbox(
  { database: { sql } }: RunsContext,
  caller: Caller,
  query: InboxQuery,
): Promise<Page<InboxEntry>> {
  const { entries, total } = await selectConfirmations(sql, scopeOf(caller), query);
  const ids = entries.flatMap(({ runId, rootRunId }) => [runId, rootRunId]);
  const agents = await readRunAgents(sql, ids, caller.userId);
  return {
    // The runs of some may have been deleted meanwhile.
    entries: entries.flatMap((one) => {
      const [agent, rootAgent] = [agents.get(one.runId), agents.get(one.rootRunId)];
      return agent && rootAgent ? { ...one, agent, rootAgent } : [];
    }),
    total,
  };
}

async function withAgents(
  sql: Sql,
  { userId }: Pick<Caller, "userId">,
  stored: readonly StoredConfirmation[],
): Promise<Confirmation[]> {
  const agents = await readRunAgents(
    sql,
    stored.map(({ runId }) => runId),
    userId,
  );
  return stored.flatMap((one) => {
    const agent = agents.get(one.runId);
    return agent ? { ...one, agent } : [];
  });
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
  const status = approve ? "approved" : "denied";
  const isResolved = await context.database.transaction(async (tx) => {
    if (!(await resolveConfirmation(tx, confirmationId, status, reason ?? null))) return false;
    await recordAnswer(tx, caller, pending, status);
    return true;
  });
  const answered = await find();
  if (!answered) throw fault("not_found", "Confirmation not found");
  if (!isResolved) {
    const { phase } = await readOwnRun(context, caller, runId);
    if (phase === "ended" && answered.status === "expired") throw fault("conflict", "The run has ended");
    const now = answered.status === "pending" ? "expired" : answered.status;
    throw fault("conflict", `The confirmation is already ${now}`);
  }
  context.wakeWorkers();
  const [shown] = await withAgents(sql, caller, [answered]);
  if (!shown) throw fault("not_found", "Confirmation not found");
  return shown;
}

function recordAnswer(
  tx: Sql,
  { userId }: Caller,
  { id, runId, tool }: StoredConfirmation,
  status: "approved" | "denied",
): Promise<void> {
  return record(tx, {
    action: status === "approved" ? "confirmation.approve" : "confirmation.deny",
    object: { id, name: tool },
    ownerId: userId,
    before: { status: "pending" },
    after: { run_id: runId, tool, status },
  });
}

const perPass = 100;

/** Confirmations that are not answered in time count as denied. */
export async function expireConfirmations(context: Pick<RunsContext, "database" | "wakeWorkers">): Promise<void> {
  const { sql } = context.database;
  const expired = await listExpired(sql, perPass);
  for (const id of expired) await resolveConfirmation(sql, id, "expired", "Not answered in time");
  if (expired.length > 0) context.wakeWorkers();
}

export interface Confirmation extends StoredConfirmation {
  /** The agent that asks. */
  agent: RunAgent;
}

export interface StoredConfirmation {
  id: string;
  runId: string;
  tool: string;
  arguments: Record<string, unknown>;
  details: Record<string, unknown> | null;
  status: ConfirmationStatus;
  reason: string | null;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
}

/** Of a run and its descendants, oldest first. */
export async function listConfirmations(sql: Sql, run: Pick<Run, "id" | "ancestors">): Promise<StoredConfirmation[]> {
  return sql<StoredConfirmation[]>`
    select ${columns(sql)}
    from run_confirmations q join runs r on r.id = q.run_id
    where q.root_id = ${run.ancestors[0] ?? run.id} and (r.id = ${run.id} or ${run.id} = any (r.ancestors))
    order by q.created_at, q.id`;
}

/** For a row `q` of `run_confirmations`. */
const columns = (sql: Sql) => sql`
  q.id, q.run_id as "runId", q.tool, q.arguments, q.details, q.status, q.reason, q.created_at as "createdAt",
  q.expires_at as "expiresAt", q.resolved_at as "resolvedAt"`;

export async function findConfirmation(sql: Sql, runId: string, id: string): Promise<StoredConfirmation | undefined> {
  const [found] = await sql<StoredConfirmation[]>`
    select ${columns(sql)} from run_confirmations q where q.id = ${id} and q.run_id = ${runId}`;
  return found;
}

async function selectConfirmations(
  sql: Sql,
  { userId, onlyKeyIds }: Scope,
  { status, limit, offset }: InboxQuery,
): Promise<Page<StoredConfirmation & { rootRunId: string }>> {
  const chosen = sql`
    from run_confirmations q ${onlyKeyIds === null ? sql`` : sql`join runs r on r.id = q.run_id and ${ofKeys(sql, onlyKeyIds, sql`r.key_id`)}`}
    where q.user_id = ${userId} ${status === undefined ? sql`` : sql`and q.status = ${status}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total ${chosen}`;
  const entries = await sql<(StoredConfirmation & { rootRunId: string })[]>`
    select ${columns(sql)}, q.root_id as "rootRunId" ${chosen}
    order by q.created_at desc, q.id desc limit ${limit} offset ${offset}`;
  return { entries, total: counted?.total ?? 0 };
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
