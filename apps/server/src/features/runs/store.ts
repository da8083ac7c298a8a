import type { RunPhase, RunStatus } from "@gantry/wire";
import type { Database, Sql, Transaction } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { CallKind, Run, RunError, RunEvent, SaidMessage, Step, StepKind, StoredCall } from "./run.ts";

const runColumns = (sql: Sql) => sql`
  r.id, r.agent_id as "agentId", r.revision_id as "revisionId", r.owner_id as "ownerId", r.user_id as "userId",
  r.key_id as "keyId", r.ancestors, r.status, r.phase, r.input, r.output, r.error, r.max_cost_micros as "maxCost",
  r.timeout_ms as "timeoutMs", r.max_steps as "maxSteps", r.approve, r.connectors, r.base_url as "baseUrl", r.holder,
  r.claim, r.writes, r.deaths, r.parked, r.cancel_requested as "cancelRequested", r.active_ms as "activeMs",
  r.call_id as "callId", r.cut_before as "cutBefore", r.steps, r.last_event as "lastEvent",
  r.input_tokens as "inputTokens", r.output_tokens as "outputTokens", r.cached_tokens as "cachedTokens",
  r.cost_micros as cost, r.price_micros as price, r.created_at as "createdAt", r.started_at as "startedAt",
  r.completed_at as "completedAt"`;

/** As text, because the driver would send a value of the type json through jsonb, which loses the order of fields. */
const asJson = (sql: Sql, value: unknown) => sql`${JSON.stringify(value)}::text::json`;

// Creating.

export interface NewRun {
  id: string;
  agentId: string;
  revisionId: string;
  ownerId: string;
  userId: string;
  keyId: string;
  ancestors: readonly string[];
  parentStep: number | null;
  parentPosition: number | null;
  input: unknown;
  maxCost: Micros | null;
  timeoutMs: number;
  maxSteps: number;
  approve: readonly string[];
  connectors: readonly string[];
  baseUrl: string;
  callId: string;
  price: Micros;
  saleName: string | null;
}

/** False where it exists already: a child that was made before a crash. */
export async function insertRun(tx: Sql, run: NewRun, keyMonth: string | null): Promise<boolean> {
  const rows = await tx`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, ancestors, parent_step, parent_position,
      input, max_cost_micros, timeout_ms, max_steps, approve, connectors, base_url, call_id, price_micros, due_micros,
      sale_name, key_month)
    values (${run.id}, ${run.agentId}, ${run.revisionId}, ${run.ownerId}, ${run.userId}, ${run.keyId},
      ${run.ancestors as string[]}::text[], ${run.parentStep}, ${run.parentPosition}, ${asJson(tx, run.input)},
      ${run.maxCost}, ${run.timeoutMs}, ${run.maxSteps}, ${run.approve as string[]}::text[],
      ${run.connectors as string[]}::text[], ${run.baseUrl}, ${run.callId}, ${run.price}, ${run.price},
      ${run.saleName}, ${keyMonth}::text::date)
    on conflict (id) do nothing returning id`;
  return rows.length > 0;
}

/** Locks a run and those above it; answers whether it may start another, and what that may cost. */
export async function lockAbove(
  tx: Transaction,
  { id, ancestors, claim }: Pick<Run, "id" | "ancestors" | "claim">,
): Promise<{ isLive: boolean; isCancelled: boolean; room: Micros | null; spare: Micros | null }> {
  const chain = [...ancestors, id];
  await tx`select 1 from runs where id = any (${chain}) order by cardinality(ancestors), id for update`;
  const [row] = await tx<{ isLive: boolean; isCancelled: boolean; room: Micros | null; spare: Micros | null }[]>`
    select bool_and(id <> ${id} or (claim = ${claim} and status = 'running' and not cancel_requested)) as "isLive",
      bool_or(cancel_requested) as "isCancelled", min(max_cost_micros - cost_micros - due_micros) as room,
      min(max_cost_micros - cost_micros - due_micros - held_micros) as spare
    from runs where id = any (${chain})`;
  return row ?? { isLive: false, isCancelled: false, room: null, spare: null };
}

/** A price that runs above have to count as theirs. */
export async function addDue(tx: Transaction, ids: readonly string[], price: Micros): Promise<void> {
  if (price === 0) return;
  await tx`update runs set due_micros = due_micros + ${price} where id = any (${ids as string[]})`;
}

export interface Funds {
  available: Micros;
  /** Null where the key has no monthly limit. */
  keyRoom: Micros | null;
}

/** Locks the wallet, and the month of a key with a limit; answers what is left in them. */
export async function lockFunds(tx: Transaction, userId: string, keyId: string, month: string): Promise<Funds> {
  const [wallet] = await tx<{ available: Micros }[]>`
    select balance_micros - reserved_micros as available from wallets where user_id = ${userId} for update`;
  const [key] = await tx<{ limit: Micros | null }[]>`
    select monthly_limit_micros as limit from api_keys where id = ${keyId}`;
  if (!wallet) throw new Error(`there is no wallet of ${userId}`);
  if (key?.limit == null) return { available: wallet.available, keyRoom: null };
  await tx`insert into key_months (key_id, month) values (${keyId}, ${month}::text::date) on conflict do nothing`;
  const [used] = await tx<{ micros: Micros }[]>`
    select spent_micros + reserved_micros as micros from key_months
    where key_id = ${keyId} and month = ${month}::text::date for update`;
  return { available: wallet.available, keyRoom: key.limit - (used?.micros ?? 0) };
}

export async function reservePrice(
  tx: Transaction,
  { userId, keyId, month, price }: { userId: string; keyId: string; month: string | null; price: Micros },
): Promise<void> {
  await tx`update wallets set reserved_micros = reserved_micros + ${price} where user_id = ${userId}`;
  if (month === null) return;
  await tx`
    update key_months set reserved_micros = reserved_micros + ${price}
    where key_id = ${keyId} and month = ${month}::text::date`;
}

/** The run that used the key before; undefined when this one is the first. Waits for who is using it at this moment. */
export async function takeRunKey(
  tx: Transaction,
  taken: { userId: string; scope: string; key: string; fingerprint: string; runId: string },
): Promise<{ runId: string; fingerprint: string; isStale: boolean } | undefined> {
  const mine = await tx`
    insert into idempotency_keys (user_id, scope, key, fingerprint, prediction_id)
    values (${taken.userId}, ${taken.scope}, ${taken.key}, ${taken.fingerprint}, ${taken.runId})
    on conflict (user_id, scope, key) do nothing returning key`;
  if (mine.length > 0) return undefined;
  await tx`
    select 1 from idempotency_keys
    where user_id = ${taken.userId} and scope = ${taken.scope} and key = ${taken.key} for update`;
  return findRunKey(tx, taken);
}

export async function findRunKey(
  sql: Sql,
  { userId, scope, key }: { userId: string; scope: string; key: string },
): Promise<{ runId: string; fingerprint: string; isStale: boolean } | undefined> {
  const [row] = await sql<{ runId: string; fingerprint: string; isStale: boolean }[]>`
    select prediction_id as "runId", fingerprint, created_at < now() - interval '24 hours' as "isStale"
    from idempotency_keys where user_id = ${userId} and scope = ${scope} and key = ${key}`;
  return row;
}

export async function replaceRunKey(
  tx: Transaction,
  taken: { userId: string; scope: string; key: string; fingerprint: string; runId: string },
): Promise<void> {
  await tx`
    update idempotency_keys
    set prediction_id = ${taken.runId}, fingerprint = ${taken.fingerprint}, created_at = now()
    where user_id = ${taken.userId} and scope = ${taken.scope} and key = ${taken.key}`;
}

// Reading.

export async function findRun(sql: Sql, id: string): Promise<Run | undefined> {
  const [run] = await sql<Run[]>`select ${runColumns(sql)} from runs r where r.id = ${id}`;
  return run;
}

export interface RunFilter {
  /** Of one agent, or of one parent, or all. */
  agentId?: string | undefined;
  parentId?: string | undefined;
  /** Those of this user only. */
  userId?: string | undefined;
  status?: RunStatus | undefined;
}

/** Newest first. What a person started, unless a parent is given. */
export async function selectRuns(
  sql: Sql,
  { agentId, parentId, userId, status }: RunFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ entries: Run[]; total: number }> {
  const chosen = sql`
    from runs r where true
    ${agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}`}
    ${parentId === undefined ? sql`` : sql`and r.ancestors[cardinality(r.ancestors)] = ${parentId} and cardinality(r.ancestors) > 0`}
    ${parentId === undefined && agentId === undefined ? sql`and cardinality(r.ancestors) = 0` : sql``}
    ${userId === undefined ? sql`` : sql`and r.user_id = ${userId}`}
    ${status === undefined ? sql`` : sql`and r.status = ${status}`}`;
  const [counted] = await sql<{ total: number }[]>`select count(*)::int as total ${chosen}`;
  const entries = await sql<Run[]>`
    select ${runColumns(sql)} ${chosen} order by r.created_at desc, r.id desc limit ${limit} offset ${offset}`;
  return { entries, total: counted?.total ?? 0 };
}

export async function listSteps(sql: Sql, runId: string): Promise<Step[]> {
  return sql<Step[]>`select n, kind, message, prompt from run_steps where run_id = ${runId} order by n`;
}

export async function listCalls(sql: Sql, runId: string): Promise<StoredCall[]> {
  return sql<StoredCall[]>`
    select k.step, k.position, k.call_id as "callId", k.tool, k.arguments, k.kind, k.status, k.child_id as "childId",
      k.result, k.is_error as "isError", q.status as answer, q.reason as "answerReason", q.arguments_hash as "answerHash"
    from run_calls k left join run_confirmations q
      on q.run_id = k.run_id and q.step = k.step and q.position = k.position
    where k.run_id = ${runId} order by k.step, k.position`;
}

export async function listEvents(sql: Sql, runId: string, after: number, limit: number): Promise<RunEvent[]> {
  return sql<RunEvent[]>`
    select n, type, data, created_at as "createdAt" from run_events
    where run_id = ${runId} and n > ${after} order by n limit ${limit}`;
}

/** Ids of what a run has under it that has not ended, the deepest first. */
export async function listLiveBelow(
  sql: Sql,
  runId: string,
): Promise<Pick<Run, "id" | "claim" | "holder" | "writes">[]> {
  return sql<Pick<Run, "id" | "claim" | "holder" | "writes">[]>`
    select id, claim, holder, writes from runs
    where ancestors[1] = coalesce((select ancestors[1] from runs where id = ${runId}), ${runId})
      and ${runId} = any (ancestors) and status in ('pending', 'running')
    order by cardinality(ancestors) desc, id`;
}

// Moving forward.

export interface NewCall {
  step: number;
  position: number;
  call_id: string;
  tool: string;
  arguments: Record<string, unknown>;
  kind: CallKind;
  status: StoredCall["status"];
  child_id?: string | undefined;
  result?: string | undefined;
  is_error?: boolean | undefined;
}

export interface EndedCall {
  step: number;
  position: number;
  result: string;
  is_error: boolean;
}

export interface UsedByCall {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost_micros: Micros;
}

export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/** What happened to a run, as `write_runs` of migrations/0022 reads it. */
export interface RunChange {
  id: string;
  claim: number;
  holder: string | null;
  /** The number of this write. */
  seq: number;
  phase?: RunPhase;
  call_id?: string;
  cut_before?: number;
  /** What its calls under way may come to, all together. */
  hold?: Micros;
  active_ms?: number;
  release?: boolean;
  park?: "confirmation" | "children";
  step?: UsedByCall & {
    n: number;
    kind: StepKind;
    message: SaidMessage;
    prompt?: string | undefined;
    prediction_id: string;
  };
  cost?: UsedByCall;
  calls?: readonly NewCall[];
  starts?: readonly { step: number; position: number }[];
  ends?: readonly EndedCall[];
  confirmations?: readonly {
    id: string;
    step: number;
    position: number;
    tool: string;
    arguments: Record<string, unknown>;
    details: Record<string, unknown> | null;
    hash: string;
    seconds: number;
  }[];
  secrets?: readonly { id: string; field: string; sealed: string; seconds: number }[];
  events?: readonly NewEvent[];
  end?: {
    status: "done" | "error";
    output?: unknown;
    error?: RunError;
    /** For the model of the parent. */
    told: string;
    told_error: boolean;
  };
}

export interface Written {
  n: number;
  /** False: the run is no longer this claim's. */
  written: boolean;
  cancel: boolean;
  /** What it may still cost, by its own limit and those above; null: no limit. */
  room: Micros | null;
  /** The same without what calls under way may come to. */
  spare: Micros | null;
  /** Whether there was room for `hold`. */
  held: boolean;
  /** A worker may go on with it, or with its parent. */
  wake: boolean;
}

export async function writeRuns(sql: Sql, changes: readonly RunChange[]): Promise<Written[]> {
  const numbered = changes.map((change, n) => ({ n, ...change }));
  const [row] = await sql<{ answers: Written[] }[]>`
    select write_runs(${JSON.stringify(numbered)}::text::json) as answers`;
  return row?.answers ?? [];
}

export async function claimRuns(sql: Sql, nodeId: string, hands: number): Promise<Run[]> {
  return sql<Run[]>`select ${runColumns(sql)} from claim_runs(${nodeId}, ${hands}) r`;
}

/** What a dead worker held. */
export async function releaseRunsOf(sql: Sql, holder: string): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select release_runs(${holder}) as n`;
  return row?.n ?? 0;
}

/** Nodes that hold runs and are gone, by the same rule as for predictions. */
export async function listDeadHolders(
  sql: Sql,
  { deadAfterSeconds, unheardSince }: { deadAfterSeconds: number; unheardSince: Date | undefined },
): Promise<string[]> {
  const rows = await sql<{ holder: string }[]>`
    select distinct r.holder from runs r
    where r.holder is not null and not exists (
      select 1 from nodes n where n.id = r.holder and n.heartbeat_at > least(
        now() - make_interval(secs => ${deadAfterSeconds}), ${unheardSince ?? new Date(0)}::timestamptz))`;
  return rows.map((row) => row.holder);
}

export interface HeldRun {
  id: string;
  claim: number;
  cancelRequested: boolean;
}

/** What this node is believed to hold. */
export async function listHeld(sql: Sql, nodeId: string): Promise<HeldRun[]> {
  return sql<HeldRun[]>`
    select id, claim, cancel_requested as "cancelRequested" from runs where holder = ${nodeId}`;
}

/** A run that its holder does not work on. Where it tried, that is as good as a death: such a run must end some day. */
export async function releaseRun(
  sql: Sql,
  { id, claim }: Pick<HeldRun, "id" | "claim">,
  wasTried: boolean,
): Promise<void> {
  await sql`
    update runs set holder = null, claim = claim + 1, deaths = deaths + ${wasTried ? 1 : 0}
    where id = ${id} and claim = ${claim} and holder is not null`;
}

export async function isAnyReady(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select 1 from runs where holder is null and not parked and status in ('pending', 'running') limit 1`;
  return rows.length > 0;
}

/** Asks for the end of a run and of all under it; answers whether there was anything to end. */
export async function requestCancel(database: Database, runId: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx`
      select 1 from runs where id = ${runId} or (${runId} = any (ancestors)
        and ancestors[1] = coalesce((select ancestors[1] from runs where id = ${runId}), ${runId}))
      order by cardinality(ancestors), id for update`;
    await tx`
      update runs set cancel_requested = true, parked = false
      where status in ('pending', 'running') and (id = ${runId} or (${runId} = any (ancestors)
        and ancestors[1] = coalesce((select ancestors[1] from runs where id = ${runId}), ${runId})))`;
    // A node that works on one of those below hears of it by that one's id.
    await tx`
      select pg_notify(${cancelChannel}, id) from runs
      where cancel_requested and holder is not null and (id = ${runId} or (${runId} = any (ancestors)
        and ancestors[1] = coalesce((select ancestors[1] from runs where id = ${runId}), ${runId})))`;
  });
}

export const cancelChannel = "gantry_run_cancel";
export const eventsChannel = "gantry_run_events";
export const endedChannel = "gantry_run_ended";

// Confirmations.

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

/** Of a run and of all under it, oldest first. */
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

// Secrets.

/** Takes it out: nobody gets it a second time. */
export async function takeSecret(
  sql: Sql,
  rootId: string,
  id: string,
): Promise<{ field: string; sealed: Uint8Array } | undefined> {
  const [row] = await sql<{ field: string; sealed: Uint8Array }[]>`
    delete from run_secrets where id = ${id} and run_id = ${rootId} and expires_at > now() returning field, sealed`;
  return row;
}

export async function dropExpiredSecrets(sql: Sql): Promise<void> {
  await sql`delete from run_secrets where expires_at < now()`;
}
