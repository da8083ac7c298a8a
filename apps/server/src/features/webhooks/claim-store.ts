import type { Sql } from "../../engines/database/database.ts";
import type { Verdict } from "./attempt.rules.ts";
import type { Allotment, Waiting } from "./send-slots.ts";

export interface ClaimedRow {
  id: string;
  claim: number;
  userId: string;
  predictionId: string;
  runId: string | null;
  destination: string;
  target: Uint8Array;
  payload: string;
  /** Since the prediction ended. */
  ageMs: number;
  failures: number;
  trace: string | null;
}

/** A user chooses the destinations, so how many of them a pass considers is bounded, for each user and in all. */
const mostPerUser = 500;
const mostReceivers = 5_000;

/** Due deliveries of the receivers that have waited longest, and in how many milliseconds the next one becomes due. */
export async function selectWaiting(sql: Sql): Promise<{ waiting: Waiting[]; nextInMs: number | null }> {
  // First: what becomes due between the two queries is then in both.
  const [next] = await sql<{ inMs: number | null }[]>`
    select extract(epoch from min(due_at) - now())::float8 * 1000 as "inMs"
    from webhook_deliveries where status = 'pending' and due_at > now()`;
  const waiting = await sql<Waiting[]>`
    select w.destination, w.user_id as "userId", w.due, p.parallel
    from (
      select destination, user_id, count(*)::int as due, min(due_at) as since,
        row_number() over (partition by user_id order by min(due_at)) as nth
      from webhook_deliveries where status = 'pending' and due_at <= now() group by destination, user_id
    ) w left join users u on u.id = w.user_id left join plans p on p.name = u.plan
    where w.nth <= ${mostPerUser} order by w.nth, w.since limit ${mostReceivers}`;
  return { waiting, nextInMs: next?.inMs ?? null };
}

/** Claims the allotted number of deliveries for `leaseMs`. An expired claim counts as an attempt: its sender died. */
export async function claimDue(
  sql: Sql,
  { nodeId, leaseMs, allotted }: { nodeId: string; leaseMs: number; allotted: readonly Allotment[] },
): Promise<ClaimedRow[]> {
  return sql<ClaimedRow[]>`
    with chosen as (
      select due.id
      from unnest(${allotted.map((one) => one.destination)}::text[], ${allotted.map((one) => one.userId)}::text[],
        ${allotted.map((one) => one.count)}::int[]) as slots (destination, user_id, count)
      cross join lateral (
        select id from webhook_deliveries d
        where d.status = 'pending' and d.destination = slots.destination and d.user_id = slots.user_id
          and d.due_at <= now()
        order by d.due_at limit slots.count
        for update skip locked
      ) due
    )
    update webhook_deliveries d
    set attempts = d.attempts + (d.claimed_by is not null)::int,
      claimed_by = ${nodeId}, claim = d.claim + 1, resend = false,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 ms'
    from chosen where d.id = chosen.id
    returning d.id, d.claim, d.user_id as "userId", d.prediction_id as "predictionId", d.run_id as "runId", d.destination, d.target, d.payload,
      d.failures, d.trace, extract(epoch from clock_timestamp() - d.created_at)::float8 * 1000 as "ageMs"`;
}

export interface Result extends Verdict {
  id: string;
  claim: number;
  latencyMs: number;
  /** The beginning of the answer's body; null if none arrived. */
  answer: string | null;
}

/** Attempts kept of a delivery, which its owner may resend any number of times. */
const keptAttempts = 50;

/**
 * Stores how attempts ended. Returns the milliseconds until each is due again: null if the delivery has ended or the
 * claim was lost.
 */
export async function writeResults(sql: Sql, results: readonly Result[]): Promise<(number | null)[]> {
  const rows = await sql<{ id: string; dueInMs: number | null }[]>`
    with written as (
    update webhook_deliveries d
    set attempts = d.attempts + 1, resend = false, claimed_by = null,
      status = case when d.resend then 'pending' else g.status end,
      failures = case when d.resend then 0 else g.failures end,
      due_at = case when d.resend then clock_timestamp() else clock_timestamp() + g.retry_ms * interval '1 ms' end,
      last_status = g.last_status, last_error = g.last_error, latency_ms = g.latency_ms,
      delivered_at = case when g.status = 'delivered' then clock_timestamp() else d.delivered_at end
    from unnest(
      ${results.map((one) => one.id)}::text[], ${results.map((one) => one.claim)}::int[],
      ${results.map((one) => one.status)}::text[], ${results.map((one) => one.failures)}::int[],
      ${results.map((one) => one.retryInMs)}::bigint[], ${results.map((one) => one.lastStatus)}::int[],
      ${results.map((one) => one.lastError)}::text[], ${results.map((one) => one.latencyMs)}::int[],
      ${results.map((one) => one.answer)}::text[]
    ) as g (id, claim, status, failures, retry_ms, last_status, last_error, latency_ms, answer)
    where d.id = g.id and d.claim = g.claim and d.claimed_by is not null
    returning d.id, d.due_at, d.attempts, g.last_status, g.last_error, g.latency_ms, g.answer
    ), logged as (
      insert into webhook_attempts (delivery_id, number, status, error, latency_ms, response_body)
      select id, attempts, last_status, last_error, latency_ms, answer from written
      on conflict do nothing
    ), forgotten as (
      delete from webhook_attempts a using written w
      where a.delivery_id = w.id and a.number <= w.attempts - ${keptAttempts}
    )
    select id, extract(epoch from due_at - clock_timestamp())::float8 * 1000 as "dueInMs" from written`;
  const dueById = new Map(rows.map((row) => [row.id, row.dueInMs]));
  return results.map((one) => dueById.get(one.id) ?? null);
}
